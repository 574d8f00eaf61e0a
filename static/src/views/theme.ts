// Light or dark: the browser's wish, unless the person has chosen.

const KEY = 'forkpoint-theme'

export function restoreTheme(): void {
  const chosen = localStorage.getItem(KEY)
  if (chosen) document.documentElement.dataset.theme = chosen
}

export function toggleTheme(): void {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  document.documentElement.dataset.theme = dark ? 'light' : 'dark'
  localStorage.setItem(KEY, document.documentElement.dataset.theme)
}
