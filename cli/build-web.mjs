// Builds the dashboard's pages into dist/services/dashboard/web, under a stamp of their own: a change elsewhere does not build them again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Where the built pages lie, relative to the project. */
export const webOutput = 'dist/services/dashboard/web';

/** The script of the pages that the server writes: its folder, and its name without the ending. Its style sheet is `public.css`. */
const publicScript = 'public-page';
const publicSheet = 'public.css';

/** Where the first page of a signed-in person begins. */
const FIRST = /[\\/]web[\\/](main\.tsx|parts[\\/]layouts[\\/]|customer[\\/]overview[\\/])/;

/** What every page begins with, and what stands before a session. The rest is not loaded to sign in. */
const ENTRY = /[\\/]web[\\/]main\.tsx/;
const ENTRANCE = /[\\/]web[\\/](parts[\\/]layouts[\\/]entrance-layout|entrance[\\/]sign-in-page)/;

/** What the charts are drawn with: a third of all code, and on the pages about use alone. */
const CHARTS =
  /node_modules[\\/](@mantine[\\/]charts|recharts|victory-vendor|d3-|internmap|decimal\.js|es-toolkit|@reduxjs|redux|react-redux|reselect|immer|eventemitter3|react-is|react-transition-group|use-sync-external-store)|-chart\.tsx$/;

/**
 * Of React's two forms Vite takes the one that NODE_ENV names, whatever its mode: under a test runner that is the one for developers,
 * nearly twice as large, which would then count as current.
 * @param {() => Promise<unknown>} work
 */
async function inProduction(work) {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await work();
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/**
 * @param {string} root the project's folder
 * @returns {Promise<void>}
 */
export async function buildWeb(root) {
  await inProduction(async () => {
    await buildPages(root, APP);
    // A build of their own: parts shared with the app would otherwise lie in the app's own file, which starts the app.
    await buildPages(root, PUBLIC_PAGES);
  });
  for (const folder of ['', 'assets']) compress(join(root, webOutput, folder));
}

const APP = {
  input: { index: 'index.html' },
  output: {
    entryFileNames: 'assets/[name]-[hash].js',
    // Few files: a browser asks for each of them, however small.
    codeSplitting: {
      groups: [
        // Each has all that it imports. The frame belongs to every page with a session, and to the first of them.
        { name: 'entry', test: ENTRY, priority: 5 },
        { name: 'entrance', test: ENTRANCE, priority: 4 },
        { name: 'frame', test: FIRST, priority: 3 },
        { name: 'charts', test: CHARTS, priority: 1 },
        { name: 'forms', test: (id) => !CHARTS.test(id), minShareCount: 2, priority: 2 },
      ],
    },
  },
};

/** The server writes these pages, so it knows their files by fixed names. */
const PUBLIC_PAGES = {
  input: { [publicScript]: `${publicScript}/main.ts` },
  output: {
    entryFileNames: '[name].js',
    assetFileNames: ({ names }) => (names.includes(`${publicScript}.css`) ? publicSheet : 'assets/[name]-[hash][extname]'),
  },
};

async function buildPages(root, { input, output }) {
  const { build } = await import('vite');
  const web = join(root, 'services', 'dashboard', 'web');
  await build({
    configFile: false,
    envDir: false,
    mode: 'production',
    logLevel: 'warn',
    root: web,
    build: {
      outDir: join(root, webOutput),
      emptyOutDir: input === APP.input,
      copyPublicDir: input === APP.input,
      target: 'es2022',
      // What the first page loads is bounded by a test instead.
      chunkSizeWarningLimit: 800,
      // Fonts and pictures as files: the content security policy allows no data: URL in style sheets.
      assetsInlineLimit: 0,
      // One sheet: in parts, each page would ask for three of them.
      cssCodeSplit: input !== APP.input,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(web, file)])),
        output,
        // Libraries mark their modules for servers that render; nothing renders on a server here.
        onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
      },
    },
  });
}

/** Puts each script and style sheet beside itself in the forms that browsers take, so that no answer has to be compressed. */
function compress(folder) {
  for (const name of readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}
