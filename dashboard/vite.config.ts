import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.PROCTOR_SERVER ?? 'http://127.0.0.1:8000';

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': here('./src') } },
  // Scripts find what they load beside themselves, so that an exported site works in any folder.
  experimental: {
    renderBuiltUrl: (filename, { hostType }) => (hostType === 'js' ? { relative: true } : `/${filename}`),
  },
  build: {
    outDir: process.env.PROCTOR_DASHBOARD_OUT ?? here('../src/proctor/server/dashboard'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline script and no data: address, so nothing is put into the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': server, '/health': server, '/ready': server } },
});
