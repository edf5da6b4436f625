import { recordRow } from '../table-row';
import { expectAlertsOf, type Scrapes } from './firing-alerts';
import { type Observation } from './observe-fault';

const figure = (value: number): string => value.toLocaleString('en-GB');

/** For example `200 ×1,204, 503 ×31`. */
export function describeStatuses(statuses: ReadonlyMap<number, number>): string {
  const texts = [...statuses].map(([status, count]) => `${status === 0 ? 'no response' : status} ×${figure(count)}`);
  return texts.join(', ');
}

function describeUnauthorised(statuses: readonly (readonly [status: number, count: number])[]): string {
  const all = statuses.reduce((sum, [, count]) => sum + count, 0);
  const admitted = statuses.reduce((sum, [status, count]) => sum + (status >= 200 && status < 300 ? count : 0), 0);
  return `${figure(admitted)} of ${figure(all)}`;
}

function describeLost({ given, counted }: Observation): string {
  if (given > counted) return `${figure(given - counted)} of ${figure(given)} units`;
  if (counted > given) return `nothing; ${figure(counted - given)} counted`;
  return 'nothing';
}

/** What a test adds to what the probe saw. */
export interface Remarks {
  /** Said after the statuses. */
  readonly note?: string;
  /** Statuses of further requests without a valid key. */
  readonly rejected?: ReadonlyMap<number, number>;
  /** What the metrics said, where the probe asked at another time. */
  readonly scrapes?: Scrapes;
}

/** Fails unless the alerts fire that test/support/faults/faults.json names for the fault. Then leaves its row for docs/faults.md. */
export async function recordObservation(fault: string, observation: Observation, remarks: Remarks = {}): Promise<void> {
  const { note, rejected = new Map<number, number>(), scrapes = observation.scrapes } = remarks;
  await expectAlertsOf(fault, scrapes);
  const { answers, recoveredInMs } = observation;
  const slowest = Math.max(...answers.of('valid').map(({ tookMs }) => tookMs));
  const seen = `${describeStatuses(answers.statuses('valid'))} (${(slowest / 1000).toFixed(2)} s)`;
  const unauthorised = [...answers.statuses('stranger', 'revoked'), ...rejected];
  recordRow('test/support/faults/faults.json', fault, {
    fault,
    clientsSee: note === undefined ? seen : `${seen}; ${note}`,
    unauthorisedAdmitted: describeUnauthorised(unauthorised),
    lost: describeLost(observation),
    recoveredInMs,
  });
}
