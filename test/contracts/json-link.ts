import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type LinkTimings } from '../../services/kit/upstream/link-connection';
import { eventually } from '../support/eventually';
import { holdTime, type HeldTime, passAnsweredHeartbeats } from '../support/faults/held-time';
import { type Frame, type ScriptedLink, startScriptedLink } from '../support/scripted-link';

export interface LinkUnderTest {
  /** Asks about a name. @returns the name that the answer is about */
  ask(name: string, signal: AbortSignal): Promise<string>;
  close(): void;
}

export interface LinkTarget {
  readonly url: string;
  readonly token?: string;
  readonly timings: LinkTimings;
}

/** One protocol over the link. */
export interface LinkProtocol {
  connect(target: LinkTarget): LinkUnderTest;
  /** What the upstream sends for a message that `ask` sent. */
  answerTo(frame: Frame): Frame;
  /** How `ask` fails without a connection. */
  readonly unreachable: unknown;
  /** How `ask` fails when a message, and when a handshake, takes too long. */
  readonly late: unknown;
  readonly handshakeLate: unknown;
  /** How `ask` fails when the upstream says something that is no JSON. */
  readonly garbled: unknown;
}

type Say = (answer: Frame | string) => void;

/** What a test works with; all of it is closed after the test. */
class LinkStage {
  private readonly closers: (() => unknown)[] = [];

  constructor(readonly protocol: LinkProtocol) {}

  async upstream(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
    const link = await startScriptedLink(...given);
    this.onClose(() => link.close());
    return link;
  }

  linkTo(url: string, timings: Partial<LinkTimings> = {}, token?: string): LinkUnderTest {
    const usual = { messageMs: 20_000, connectMs: 20_000, heartbeatMs: 60_000 };
    const link = this.protocol.connect({ url, timings: { ...usual, ...timings }, ...(token !== undefined && { token }) });
    this.onClose(() => link.close());
    return link;
  }

  hold(kind: Parameters<typeof holdTime>[0]): HeldTime {
    const time = holdTime(kind);
    this.onClose(() => time.release());
    return time;
  }

  readonly answer = (frame: Frame, say: Say): void => say(this.protocol.answerTo(frame));

  onClose(closer: () => unknown): void {
    this.closers.push(closer);
  }

  async close(): Promise<void> {
    for (const closer of this.closers.splice(0).reverse()) await closer();
  }
}

const never = (): AbortSignal => new AbortController().signal;

/** What every JSON link over a WebSocket guarantees. */
export function describeJsonLink(name: string, protocol: LinkProtocol): void {
  describe(`${name}: the link`, () => {
    const stage = new LinkStage(protocol);
    afterEach(() => stage.close());
    describeAnswers(stage);
    describeDeadlines(stage);
    describeLosses(stage);
    describePings(stage);
  });
}

function describeAnswers(stage: LinkStage): void {
  it('tells answers apart in whatever order they come, over one connection', async () => {
    const held: (() => void)[] = [];
    const { url, handshakes } = await stage.upstream((frame, say) => {
      held.push(() => stage.answer(frame, say));
      if (held.length === 50) for (const release of held.reverse()) release();
    });
    const link = stage.linkTo(url);
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`);
    expect(await Promise.all(names.map((each) => link.ask(each, never())))).toEqual(names);
    expect(handshakes).toHaveLength(1);
  });

  it('shows its token with the handshake', async () => {
    const { url, handshakes } = await stage.upstream(stage.answer);
    await stage.linkTo(url, {}, 'the-token').ask('a', never());
    expect(handshakes[0]?.authorization).toBe('Bearer the-token');
  });

  it('fails everyone who waits at once when what it hears is no JSON, and hears that connection no more', async () => {
    const { url, received, handshakes } = await stage.upstream((frame, say) => {
      if (received.length > 3) return stage.answer(frame, say);
      if (received.length < 3) return;
      say('Service Temporarily Unavailable');
      for (const each of received) stage.answer(each, say);
    });
    const link = stage.linkTo(url);
    const asked = await Promise.allSettled(['a', 'b', 'c'].map((each) => link.ask(each, never())));
    expect(asked.map((each) => each.status === 'rejected' && each.reason)).toEqual(Array(3).fill(stage.protocol.garbled));
    expect(await link.ask('a', never())).toBe('a');
    expect(handshakes).toHaveLength(2);
  });

  it('is not confused by what it cannot read, by repeated answers and by answers to nobody', async () => {
    const { url } = await stage.upstream((frame, say) => {
      for (const noise of ['[]', 'null', '{"type":7}', '{"type":"welcome"}']) say(noise);
      say(stage.protocol.answerTo({ ...frame, id: 'nobody', sessionId: 'nobody' }));
      stage.answer(frame, say);
      stage.answer(frame, say);
    });
    const link = stage.linkTo(url);
    expect(await link.ask('a', never())).toBe('a');
    expect(await link.ask('b', never())).toBe('b');
  });
}

function describeDeadlines(stage: LinkStage): void {
  it('bounds each message by its own deadline; its late answer reaches nobody, and the others live', async () => {
    const time = stage.hold('timeouts');
    let slow: Frame | undefined;
    const upstream = await stage.upstream((frame, say) => {
      if (!slow) return void (slow = frame);
      say(stage.protocol.answerTo(slow));
      stage.answer(frame, say);
    });
    const link = stage.linkTo(upstream.url, { messageMs: 1_000 });
    const late = expect(link.ask('slow', never())).rejects.toEqual(stage.protocol.late);
    await eventually(() => upstream.received.length === 1);
    time.pass(1_000);
    await late;
    expect(await link.ask('a', never())).toBe('a');
    expect(upstream.handshakes).toHaveLength(1);
  });

  it('ends at once for a caller who leaves, before and after the message was sent', async () => {
    const { url, received } = await stage.upstream(() => undefined);
    const leaving = new AbortController();
    const waiting = stage.linkTo(url).ask('a', leaving.signal);
    await eventually(() => received.length === 1);
    leaving.abort(new Error('the caller left'));
    await expect(waiting).rejects.toThrow();
    await expect(stage.linkTo(url).ask('b', leaving.signal)).rejects.toThrow();
    expect(received).toHaveLength(1);
  });

  it('times out on a peer that never ends the handshake', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stage.onClose(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    await expect(stage.linkTo(`ws://127.0.0.1:${port}`, { connectMs: 100 }).ask('a', never())).rejects.toEqual(
      stage.protocol.handshakeLate,
    );
  });
}

function describeLosses(stage: LinkStage): void {
  it('works again after a loss, over one new connection', async () => {
    const upstream = await stage.upstream(stage.answer);
    const link = stage.linkTo(upstream.url);
    await link.ask('a', never());
    upstream.drop();
    const asks = async (each: string): Promise<boolean> => (await link.ask(each, never()).catch(() => undefined)) === each;
    await Promise.all([eventually(() => asks('b')), eventually(() => asks('c'))]);
    expect(upstream.handshakes).toHaveLength(2);
  });

  it('fails while nobody listens, and works as soon as somebody does', async () => {
    const first = await stage.upstream(stage.answer);
    const link = stage.linkTo(first.url);
    await link.ask('a', never());
    await first.close();
    await expect(link.ask('b', never())).rejects.toEqual(stage.protocol.unreachable);
    await stage.upstream(stage.answer, { port: first.port });
    expect(await link.ask('c', never())).toBe('c');
  });

  it('asked to, opens a lost connection by itself, and tries again until somebody listens', async () => {
    const first = await stage.upstream(stage.answer);
    const link = stage.linkTo(first.url, { retry: { firstMs: 10, slowestMs: 40 } });
    await link.ask('a', never());
    first.drop();
    await eventually(() => first.handshakes.length === 2);
    await first.close();
    await expect(link.ask('b', never())).rejects.toEqual(stage.protocol.unreachable);
    const back = await stage.upstream(stage.answer, { port: first.port });
    await eventually(() => back.sockets.size === 1);
  });

  it('fails who waits, and opens nothing any more, once it is closed', async () => {
    const { url, received, handshakes } = await stage.upstream(() => undefined);
    const link = stage.linkTo(url);
    const waiting = expect(link.ask('a', never())).rejects.toEqual(stage.protocol.unreachable);
    await eventually(() => received.length === 1);
    link.close();
    await waiting;
    await expect(link.ask('b', never())).rejects.toEqual(stage.protocol.unreachable);
    expect(handshakes).toHaveLength(1);
  });
}

function describePings(stage: LinkStage): void {
  it('takes a peer that answers no pings for dead', async () => {
    const dead = await stage.upstream(() => undefined, { autoPong: false });
    await expect(stage.linkTo(dead.url, { heartbeatMs: 30 }).ask('a', never())).rejects.toEqual(stage.protocol.unreachable);
  });

  it('stays with a peer that answers pings, however long its answer takes', async () => {
    const time = stage.hold('heartbeats');
    let answer: () => void = () => undefined;
    const alive = await stage.upstream((frame, say) => (answer = () => stage.answer(frame, say)));
    const asked = stage.linkTo(alive.url, { heartbeatMs: 1_000 }).ask('a', never());
    await eventually(() => alive.received.length === 1);
    const [peer] = alive.sockets;
    await passAnsweredHeartbeats(time, { peer, count: 5, everyMs: 1_000 });
    answer();
    expect(await asked).toBe('a');
    expect(alive.handshakes).toHaveLength(1);
  });
}
