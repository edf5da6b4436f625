// Node.js 20 has no `navigator`; later versions do. Without it, pg creates a Response to see whether it runs at Cloudflare, which loads all
// of fetch: 50 ms of CPU in each process with a database.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
