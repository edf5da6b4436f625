import { type QuotaHour } from '../../../core/access/quota';
import { type Answer } from '../../../core/ports';
import { ANSWER_TIME_BOUNDS_MS, answerTimePlace } from '../../../core/catalogue/answer-times';
import { isUuid } from '../database';

/** Responses to requests with one key for one product in one hour. */
export interface AnswerHour extends QuotaHour {
  readonly credentialId: string;
  readonly product: string;
  /** Responses with a status below 400, of 400 to 499, and of 500 to 599. */
  succeeded: number;
  rejected: number;
  failed: number;
  /** Requests whose client left before the response. */
  abandoned: number;
  /** Durations of the responses in the first three counts; see `answerTimePlace`. */
  readonly took: number[];
}

const CLASSES = ['succeeded', 'rejected', 'failed', 'abandoned'] as const;

/** nginx's number. The other gateways are configured to report it too. */
const CLIENT_LEFT = 499;

function classOf(status: number): (typeof CLASSES)[number] {
  if (status === CLIENT_LEFT) return 'abandoned';
  if (status < 400) return 'succeeded';
  return status < 500 ? 'rejected' : 'failed';
}

/**
 * Maximum hours in memory. Hours of many keys gather while the database is away. This many take about 10 MB; further responses are not
 * counted.
 */
const MAX_HOURS = 20_000;

/** Counts responses until they are written: one row in the database for many responses. */
export class AnswerCounts {
  /** Hours by key. A key has few hours, so a search through them is cheaper than a composed name for each response. */
  private hours = new Map<string, AnswerHour[]>();
  private size = 0;

  /** A response without a key is left out. */
  count(answer: Answer, at: QuotaHour): void {
    const { status, elapsedMs } = answer;
    const hour = this.hourOf(answer, at);
    if (!hour) return;
    hour[classOf(status)] += 1;
    if (status !== CLIENT_LEFT) add(hour.took, answerTimePlace(elapsedMs), 1);
  }

  /** Returns all counts and starts again: at most one for each key, product and hour. */
  take(): readonly AnswerHour[] {
    const taken = [...this.hours.values()].flat();
    this.hours = new Map();
    this.size = 0;
    return taken;
  }

  /** Takes back counts that could not be written. */
  putBack(hours: readonly AnswerHour[]): void {
    for (const given of hours) {
      const hour = this.hourOf(given, given);
      if (!hour) continue;
      for (const name of CLASSES) hour[name] += given[name];
      given.took.forEach((count, place) => add(hour.took, place, count));
    }
  }

  private hourOf({ credentialId, product }: Pick<Answer, 'credentialId' | 'product'>, { day, hour }: QuotaHour): AnswerHour | undefined {
    const ofKey = this.hours.get(credentialId);
    const found = ofKey?.find((each) => each.hour === hour && each.product === product && each.day === day);
    if (found || this.size >= MAX_HOURS || !isUuid(credentialId)) return found;
    const took = new Array<number>(ANSWER_TIME_BOUNDS_MS.length + 1).fill(0);
    const added = { credentialId, product, day, hour, succeeded: 0, rejected: 0, failed: 0, abandoned: 0, took };
    if (ofKey) ofKey.push(added);
    else this.hours.set(credentialId, [added]);
    this.size += 1;
    return added;
  }
}

function add(counts: number[], place: number, more: number): void {
  counts[place] = (counts[place] ?? 0) + more;
}
