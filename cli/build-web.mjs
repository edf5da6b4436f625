// Builds the dashboard's pages into dist/services/dashboard/web, under a stamp of their own: a change elsewhere does not build them again.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Where the built pages lie, relative to the project. */
export const webOutput = 'dist/services/dashboard/web';

/** The script of the pages that the server writes: its folder, and its name without the ending. */
const publicScript = 'public-page';

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
  await inProduction(() => buildPages(root));
  compress(join(root, webOutput, 'assets'));
}

async function buildPages(root) {
  const { build } = await import('vite');
  await build({
    configFile: false,
    envDir: false,
    mode: 'production',
    logLevel: 'warn',
    root: join(root, 'services', 'dashboard', 'web'),
    build: {
      outDir: join(root, webOutput),
      emptyOutDir: true,
      target: 'es2022',
      // The charts are one lazy chunk; what the first page loads is bounded by a test instead.
      chunkSizeWarningLimit: 600,
      // Fonts and pictures as files: the content security policy allows no data: URL in style sheets.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        // The app, and the script of the public pages, which the dashboard's server writes and which therefore know it by a fixed name.
        input: {
          index: join(root, 'services', 'dashboard', 'web', 'index.html'),
          [publicScript]: join(root, 'services', 'dashboard', 'web', publicScript, 'main.ts'),
        },
        output: {
          entryFileNames: ({ name }) => (name === publicScript ? '[name].js' : 'assets/[name]-[hash].js'),
          // Every page uses some of the router's hooks, each too small for a file of its own.
          codeSplitting: { groups: [{ name: 'router', test: /react-router\/dist\/esm\/use[A-Z]/ }] },
        },
        // Libraries mark their modules for servers that render; nothing renders on a server here.
        onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
      },
    },
  });
}

/** Puts each script and style sheet beside itself in the forms that browsers take, so that no answer has to be compressed. */
function compress(folder) {
  for (const name of readdirSync(folder).filter((each) => /\.(js|css)$/.test(each))) {
    const content = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}
