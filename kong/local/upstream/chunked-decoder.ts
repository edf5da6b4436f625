/** The longest chunk-size or trailer line that is read. It bounds what a broken upstream can make the gateway keep. */
const MAX_LINE_BYTES = 8192;

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done';

/** Takes the chunked coding off an upstream's body. Trailers are dropped, as nginx does unless asked. */
export class ChunkedDecoder {
  private state: State = 'size';
  private line = '';
  private left = 0;

  /** `onData` gets slices of the input, no copies. */
  constructor(private readonly onData: (data: Buffer) => void) {}

  get isDone(): boolean {
    return this.state === 'done';
  }

  /** Returns how many bytes were used; fewer than given only when the body ended. Undefined: not the chunked coding. */
  push(input: Buffer): number | undefined {
    let at = 0;
    while (at < input.length && this.state !== 'done') {
      if (this.state === 'data') {
        const end = Math.min(input.length, at + this.left);
        this.left -= end - at;
        this.onData(input.subarray(at, end));
        at = end;
        if (this.left === 0) this.state = 'data-end';
        continue;
      }
      const newline = input.indexOf(10, at);
      this.line += input.toString('latin1', at, newline < 0 ? input.length : newline + 1);
      if (this.line.length > MAX_LINE_BYTES) return undefined;
      if (newline < 0) return input.length;
      at = newline + 1;
      if (!this.line.endsWith('\r\n') || !this.endLine(this.line.slice(0, -2))) return undefined;
      this.line = '';
    }
    return at;
  }

  private endLine(line: string): boolean {
    switch (this.state) {
      case 'size': {
        const size = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line)?.[1];
        if (size === undefined) return false;
        this.left = Number.parseInt(size, 16);
        this.state = this.left === 0 ? 'trailer' : 'data';
        return true;
      }
      case 'data-end':
        this.state = 'size';
        return line === '';
      case 'trailer':
        if (line === '') this.state = 'done';
        return true;
      case 'data':
      case 'done':
        return false;
    }
  }
}
