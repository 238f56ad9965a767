import react from '@vitejs/plugin-react';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.PROCTOR_SERVER ?? 'http://127.0.0.1:8000';

const SHARED =
  /dashboard\/src\/(api|app\/(keys|ServerState)|charts|components|numbers|router|theme|text\/(en|text)|screens\/(samples|review|compare)\/(link|CopyLink))|node_modules\/(react|react-dom|scheduler|@tanstack|eventsource-parser|diff)\//;

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: {
      '@': here('./src'),
      // Its edition for browsers reads entities by `innerHTML`, which the page's policy refuses.
      'decode-named-character-reference': here('./node_modules/decode-named-character-reference/index.js'),
    },
  },
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
    // What several screens share is one file: a chunk for each overlap would be a request for each.
    rolldownOptions: { output: { advancedChunks: { groups: [{ name: 'shared', test: SHARED }] } } },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': server, '/health': server, '/ready': server } },
});
