import { type GatewayKind } from '../../kong/gateways/render';
import { isMeasured } from './measured';

/** `npm run test:all` sets it. `npm test` runs the scenes that the test files choose, the same every time. */
export const runsEveryScene = process.env['EVERY_SCENE'] === '1';

/** Declares a scene that `npm test` leaves to `npm run test:all` and, in a `.measured` file, to `npm run test:performance`. */
export const inTestAll: jest.It = runsEveryScene || isMeasured ? it : it.skip;

/** Rows of a table that are of one kind: `npm test` runs the first of them, or so many. */
export const firstOf = <T>(rows: readonly T[], count = 1): readonly T[] => (runsEveryScene || isMeasured ? rows : rows.slice(0, count));

/**
 * Declares a scene that `npm test` runs on one of the gateways that stand in Kong's place. Kong and its stand-in get every scene.
 * @param gateway the one that runs it now
 * @param chosen the one that runs it in `npm test`; none unless given
 */
export function sceneOn(gateway: GatewayKind | 'kong' | 'kong-lane' | 'kong-local', chosen?: GatewayKind): jest.It {
  return gateway.startsWith('kong') || gateway === chosen ? it : inTestAll;
}
