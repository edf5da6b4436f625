import { type z } from 'zod';
import { type PublishedMethod } from '../../../plugins/core/catalogue/catalogue';
import { type CallContext, defineRoute, type Route } from '../service/define-service';
import { formatTimestamp } from '../timestamp';
import { type WorkerDeps } from './connect-workers';
import { type WorkerClient, type WorkerMethods } from './worker-client';

interface HealthAnswer {
  readonly status: 'success';
  readonly data: { readonly worker: 'serving'; readonly workers: number };
  readonly timestamp: string;
}

interface HealthRoute<M extends WorkerMethods, Answer extends HealthAnswer> {
  readonly path: `/${string}`;
  /** `GET` unless given. */
  readonly method?: PublishedMethod;
  readonly output: z.ZodType<Answer, Answer>;
  /** Further members of the response, from the product's workers. */
  readonly more: (
    worker: WorkerClient<M>,
    context: CallContext,
  ) => Promise<{ readonly data: Omit<Answer['data'], keyof HealthAnswer['data']> } & Omit<Answer, keyof HealthAnswer>>;
}

/** Reports whether a worker serves, and how many are configured; 503 when none serves. */
export function workerHealthRoute<M extends WorkerMethods, Answer extends HealthAnswer>(
  route: HealthRoute<M, Answer>,
): Route<WorkerDeps<M>> {
  return defineRoute({
    method: route.method ?? 'GET',
    path: route.path,
    does: 'Reports whether the product and its workers are available.',
    output: route.output,
    body: { kind: 'ignored' },
    isLight: true,
    handler: async (_input, context, { worker }: WorkerDeps<M>) => {
      await worker.checkHealth();
      const { data, ...members } = await route.more(worker, context);
      return {
        ...members,
        status: 'success' as const,
        data: { worker: 'serving' as const, workers: worker.addresses.length, ...data },
        timestamp: formatTimestamp(context.clock.now()),
      } as unknown as Answer;
    },
  });
}
