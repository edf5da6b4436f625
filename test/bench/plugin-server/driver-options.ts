export interface DriverOptions {
  socketPath: string;
  connections: number;
  events: number;
  /** After this many events `onWarm` is called, and the measurement begins. */
  warmUp: number;
  onWarm: () => void;
  /** Write each reply in two pieces, as Kong does, and not all in one: the server then reads in more and smaller chunks. */
  asKongWrites: boolean;
}

/** What a browser sends through a proxy, and a key: ten headers of usual length. */
export const requestHeaders = {
  host: 'api.example.com',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  accept: 'application/json, text/plain, */*',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-IN,en;q=0.9,hi;q=0.8',
  'x-api-key': 'tg_live_3kT9vQ2mZx7Rf1LpYw8HbN5cJd4Sg6AuEeKo',
  'x-forwarded-for': '203.0.113.7',
  'cache-control': 'no-cache',
  origin: 'https://www.example.com',
  referer: 'https://www.example.com/checkout/address',
};
