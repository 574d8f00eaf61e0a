"""Runnable example graphs: offline, with scripted models. `GRAPHS` lists them; the first is the main one."""

from __future__ import annotations

from debugger.gallery.catalog import GRAPHS, GalleryGraph

__all__ = ("GRAPHS", "GalleryGraph")
