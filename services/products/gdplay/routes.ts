import { defineRoute, defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { createGdplayDeps, type GdplayDeps } from './deps';
import { fetchThumbnail } from './fetch-thumbnail';
import { makeLink } from './make-link';
import { linkInput, linkOutput, streamInput, thumbnailInput, thumbnailOutput } from './schema';
import { type GdplaySettings, gdplaySettings } from './settings';
import { streamFile } from './stream-file';

/** Plays videos and sounds from Google Drive. */
export const gdplayService = defineService<GdplayDeps, GdplaySettings>({
  name: 'gdplay',
  products: ['api-gdplay'],
  settings: gdplaySettings,
  createDeps: createGdplayDeps,
  close: (deps) => deps.transport.close(),
  routes: [
    indexRoute('ANY', '/gdplay'),
    defineRoute({
      method: 'ANY',
      path: '/gdplay/stream',
      input: streamInput,
      takesLinks: true,
      handler: (input, context, deps: GdplayDeps) => streamFile(input, context, deps),
    }),
    defineRoute({
      method: 'POST',
      path: '/gdplay/link',
      input: linkInput,
      output: linkOutput,
      handler: (input, context, deps: GdplayDeps) => makeLink(input, context, deps),
    }),
    defineRoute({
      method: 'ANY',
      path: '/gdplay/thumbnail',
      input: thumbnailInput,
      output: thumbnailOutput,
      handler: (input, context, deps: GdplayDeps) => fetchThumbnail(input, context, deps),
    }),
  ],
});
