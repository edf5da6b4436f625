import { type Agent } from 'node:http';
import { type requestOf } from '../follow-example';
import { eventually } from '../eventually';
import { KeepingAgent, send } from '../http';

export interface BalancedReply {
  readonly status: number;
  readonly text: string;
}

export type BalancedRequest = ReturnType<typeof requestOf>;

interface Member {
  readonly url: URL;
  agent: Agent;
  open: number;
  isIn: boolean;
}

const ANSWER_LIMIT_MS = 90_000;

/**
 * What a load balancer is to several gateways: keeps connections, sends to each in turn, repeats nothing, and sends nothing more to one
 * that was taken out.
 */
export class BalancedClient {
  private readonly members: readonly Member[];
  private turn = 0;

  /** @param connections to each gateway at the same time */
  constructor(urls: readonly string[], connections = 8) {
    const agent = (): Agent => new KeepingAgent(connections);
    this.members = urls.map((url) => ({ url: new URL(url), agent: agent(), open: 0, isIn: true }));
  }

  /** @throws Error when no answer came */
  send(request: BalancedRequest): Promise<BalancedReply> {
    const members = this.members.filter(({ isIn }) => isIn);
    const member = members[this.turn++ % members.length];
    if (!member) throw new Error('every gateway was taken out');
    return sendTo(member, request);
  }

  /** Sends it nothing more and waits for its last answer, then ends its connections. */
  async takeOut(url: string): Promise<void> {
    const member = this.memberOf(url);
    member.isIn = false;
    await eventually(() => member.open === 0, ANSWER_LIMIT_MS);
    member.agent.destroy();
  }

  putBack(url: string): void {
    this.memberOf(url).isIn = true;
  }

  close(): void {
    for (const { agent } of this.members) agent.destroy();
  }

  private memberOf(url: string): Member {
    const member = this.members.find((each) => each.url.href === new URL(url).href);
    if (!member) throw new Error('no such gateway');
    return member;
  }
}

async function sendTo(member: Member, { path, ...request }: BalancedRequest): Promise<BalancedReply> {
  member.open++;
  try {
    const { status, text, complete } = await send(member.url.origin + path, { ...request, agent: member.agent });
    if (!complete) throw new Error('the answer broke off');
    return { status, text };
  } finally {
    member.open--;
  }
}
