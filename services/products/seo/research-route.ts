import { type z } from 'zod';
import { type CallContext, defineRoute, type Route } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { type RouteDescription } from '../../kit/service/route-description';
import { formatTimestamp } from '../../kit/timestamp';
import { type WorkerDeps } from '../../kit/worker/connect-workers';
import { type AuthorityRequest } from '../../workers/generated/seo/seo/v1/AuthorityRequest';
import { type BacklinksRequest } from '../../workers/generated/seo/seo/v1/BacklinksRequest';
import { type KeywordsRequest } from '../../workers/generated/seo/seo/v1/KeywordsRequest';
import { type LinkPyramidRequest } from '../../workers/generated/seo/seo/v1/LinkPyramidRequest';
import { type ListSourcesRequest } from '../../workers/generated/seo/seo/v1/ListSourcesRequest';
import { type Research__Output } from '../../workers/generated/seo/seo/v1/Research';
import { type SerpRequest } from '../../workers/generated/seo/seo/v1/SerpRequest';
import { type SourceList__Output } from '../../workers/generated/seo/seo/v1/SourceList';
import { type SpamRequest } from '../../workers/generated/seo/seo/v1/SpamRequest';
import { type crawlBudget, envelope, sourceReport } from './schema';

/** A research method: its own request, and a common form of response. */
interface ResearchCall<Request> {
  request: Request;
  response: Research__Output;
}

// A type instead of an interface, because it must be a record of methods.
export type ResearchMethods = {
  Authority: ResearchCall<AuthorityRequest>;
  Backlinks: ResearchCall<BacklinksRequest>;
  Keywords: ResearchCall<KeywordsRequest>;
  LinkPyramid: ResearchCall<LinkPyramidRequest>;
  Serp: ResearchCall<SerpRequest>;
  Spam: ResearchCall<SpamRequest>;
};

export type SeoWorkerMethods = ResearchMethods & { ListSources: { request: ListSourcesRequest; response: SourceList__Output } };

type SeoDeps = WorkerDeps<SeoWorkerMethods>;

/** Below the gateway's 60 s. The worker stops fetching pages after 30 s and returns what it has. */
const DEADLINE_MS = 45_000;

function budgetOf(spent: Research__Output['crawlBudget']): z.output<typeof crawlBudget> {
  const { pagesAllowed = 0, pagesAsked = 0, msAllowed = 0, msSpent = 0 } = spent ?? {};
  return {
    pages_allowed: pagesAllowed,
    pages_asked: pagesAsked,
    pages_left: pagesAllowed - pagesAsked,
    ms_allowed: msAllowed,
    ms_left: msAllowed - msSpent,
  };
}

function unpack<Data extends z.ZodType>({ dataJson, sources, crawlBudget: spent }: Research__Output, data: Data) {
  try {
    return {
      data: data.parse(JSON.parse(dataJson)),
      sources: sources.map(({ name, kind, asOf, ok, asked, failed, error }) =>
        sourceReport.parse({ name, kind, as_of: asOf, ok, asked, failed, ...(error !== '' && { error }) }),
      ),
      crawl_budget: budgetOf(spent),
    };
  } catch (error) {
    throw new ServiceError('upstream_failed', { detail: 'The research worker sent an unexpected response.', cause: error });
  }
}

export interface ResearchRoute<Input extends z.ZodType, Data extends z.ZodType, Name extends keyof ResearchMethods> {
  readonly path: `/${string}`;
  readonly does: string;
  readonly fails?: RouteDescription['fails'];
  readonly withoutSource?: true | string;
  readonly method: Name;
  readonly input: Input;
  readonly data: Data;
  request(input: z.output<Input>): ResearchMethods[Name]['request'];
}

/** A POST route that passes its input to one method of the worker and wraps the result in the envelope. */
export function researchRoute<Input extends z.ZodType, Data extends z.ZodType, Name extends keyof ResearchMethods>(
  route: ResearchRoute<Input, Data, Name>,
): Route<SeoDeps> {
  return defineRoute({
    method: 'POST',
    path: route.path,
    does: route.does,
    ...(route.fails && { fails: route.fails }),
    ...(route.withoutSource !== undefined && { withoutSource: route.withoutSource }),
    input: route.input,
    output: envelope(route.data),
    validationStatus: 422,
    deadlineMs: DEADLINE_MS,
    handler: async (input: z.output<Input>, context: CallContext, { worker }: SeoDeps) => {
      const call = { context, deadlineMs: DEADLINE_MS, idempotent: true };
      const answer: Research__Output = await worker.unary(route.method, route.request(input), call);
      return { status: 'success' as const, ...unpack(answer, route.data), timestamp: formatTimestamp(context.clock.now()) };
    },
  });
}
