import { defineConfig } from 'vitest/config'

export default defineConfig({
  base: '/static/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    manifest: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: { main: 'src/main.tsx' } },
  },
  test: { include: ['src/**/*.test.ts'] },
})
