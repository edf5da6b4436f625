import { type GatewayKind } from '../../kong/gateways/render';

/** `npm run test:all` sets it. `npm test` runs the scenes that the test files choose, the same every time. */
export const runsEveryScene = process.env['EVERY_SCENE'] === '1';

/** Declares a scene that only `npm run test:all` runs. */
export const inTestAll: jest.It = runsEveryScene ? it : it.skip;

/**
 * Declares a scene that `npm test` runs on one of the gateways that stand in Kong's place. Kong and its stand-in get every scene.
 * @param gateway the one that runs it now
 * @param chosen the one that runs it in `npm test`
 */
export function sceneOn(gateway: GatewayKind | 'kong' | 'kong-lane' | 'kong-local', chosen: GatewayKind): jest.It {
  return gateway.startsWith('kong') || gateway === chosen ? it : inTestAll;
}
