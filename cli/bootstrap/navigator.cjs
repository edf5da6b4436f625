// Node.js 20 has no `navigator`; later versions have. Without it pg asks a Response whether it runs at Cloudflare, which loads all of fetch:
// 50 ms of CPU in each process with a database.
globalThis.navigator ??= { userAgent: `Node.js/${process.versions.node.split('.')[0]}` };
