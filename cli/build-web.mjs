// Builds the dashboard's pages into dist/services/dashboard/web, under a stamp of their own, so that a change elsewhere does not rebuild
// them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Folder of the built pages, relative to the project. */
export const webOutput = 'dist/services/dashboard/web';

/** The script of pages that the server renders: its folder, and its name without the extension. Its style sheet is `public.css`. */
const publicScript = 'public-page';
const publicSheet = 'public.css';

/** Modules of the first page after signing in. */
const FIRST = /[\\/]web[\\/](main\.tsx|parts[\\/]layouts[\\/]|customer[\\/]overview[\\/])/;

/** Modules that every page begins with, and that are needed without a session. Nothing else is loaded to sign in. */
const ENTRY = /[\\/]web[\\/]main\.tsx/;
const ENTRANCE = /[\\/]web[\\/](parts[\\/]layouts[\\/]entrance-layout|entrance[\\/]sign-in-page)/;

/** Modules for charts: a third of all code, needed only on pages about usage. */
const CHARTS =
  /node_modules[\\/](@mantine[\\/]charts|recharts|victory-vendor|d3-|internmap|decimal\.js|es-toolkit|@reduxjs|redux|react-redux|reselect|immer|eventemitter3|react-is|react-transition-group|use-sync-external-store)|-chart\.tsx$/;

/**
 * Of React's two builds Vite takes the one that NODE_ENV names, whatever its mode. Under a test runner that is the development build,
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
    // A separate build: otherwise parts shared with the app would be in the app's own file, which starts the app.
    await buildPages(root, PUBLIC_PAGES);
  });
  for (const folder of ['', 'assets']) compress(join(root, webOutput, folder));
}

const APP = {
  input: { index: 'index.html' },
  output: {
    entryFileNames: 'assets/[name]-[hash].js',
    // Few files, because a browser requests each of them, however small.
    codeSplitting: {
      groups: [
        // Each group has everything that it imports. The frame belongs to every page with a session, including the first.
        { name: 'entry', test: ENTRY, priority: 5 },
        { name: 'entrance', test: ENTRANCE, priority: 4 },
        { name: 'frame', test: FIRST, priority: 3 },
        { name: 'charts', test: CHARTS, priority: 1 },
        { name: 'forms', test: (id) => !CHARTS.test(id), minShareCount: 2, priority: 2 },
      ],
    },
  },
};

/** The server renders these pages, so their files have fixed names. */
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
      // A test limits what the first page loads instead.
      chunkSizeWarningLimit: 800,
      // Fonts and pictures are files, because the content security policy allows no data: URL in style sheets.
      assetsInlineLimit: 0,
      // One style sheet: if it were split, each page would request three.
      cssCodeSplit: input !== APP.input,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, join(web, file)])),
        output,
        // Libraries mark their modules for server rendering, which is not used here.
        onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
      },
    },
  });
}

/** Stores compressed copies beside each script and style sheet, in the forms that browsers accept. No response is compressed later. */
function compress(folder) {
  for (const name of readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}
