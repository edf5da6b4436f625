import { defineRoute, defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { always, text } from '../../kit/service/route-description';
import { gdplay } from './facts';
import { createGdplayDeps, type GdplayDeps, type GdplaySettings, gdplaySettings } from './deps';
import { fetchThumbnail } from './fetch-thumbnail';
import { makeLink } from './make-link';
import { linkInput, linkOutput, streamInput, thumbnailInput, thumbnailOutput } from './schema';
import { streamFile } from './stream-file';

const VERSION = {
  ETag: text('The version of the file, if Drive reports one.'),
  'Last-Modified': text('Time of the last change to the file, if Drive reports it.'),
};
const RANGES = { 'Accept-Ranges': always(text('`bytes`, or `none` if the size of the file is not known.')) };
const PART = { 'Content-Range': always(text('The bytes of the file in the response, and the file’s size.')) };
const FILE = { ...VERSION, ...RANGES, 'Content-Disposition': always(text('`inline`, with the name of the file.')) };

/** Plays video and audio from Google Drive. */
export const gdplayService = defineService<GdplayDeps, GdplaySettings>({
  ...gdplay,
  settings: gdplaySettings,
  createDeps: createGdplayDeps,
  close: (deps) => deps.transport.close(),
  routes: [
    indexRoute('ANY', '/gdplay'),
    defineRoute({
      method: 'ANY',
      path: '/gdplay/stream',
      does: 'Plays a video or audio file from Google Drive. Takes `Range`, `If-Range`, `If-None-Match` and `HEAD`, so that players can seek.',
      fails: ['not_found', 'precondition_failed', 'media_type_unsupported', 'range_not_satisfiable'],
      headers: { 200: FILE, 206: { ...FILE, ...PART }, 304: VERSION, 416: { ...RANGES, ...PART } },
      moreSuccesses: {
        206: 'The requested range',
        304: 'Not modified: the version named in the request is current',
      },
      mediaTypes: ['video/*', 'audio/*'],
      savedAs: 'video.mp4',
      input: streamInput,
      takesLinks: true,
      handler: (input, context, deps: GdplayDeps) => streamFile(input, context, deps),
    }),
    defineRoute({
      method: 'POST',
      path: '/gdplay/link',
      does: 'Creates a signed link to `/gdplay/stream` for one file. A player can open it without a key until it expires.',
      fails: ['not_found', 'media_type_unsupported'],
      input: linkInput,
      output: linkOutput,
      handler: (input, context, deps: GdplayDeps) => makeLink(input, context, deps),
    }),
    defineRoute({
      method: 'ANY',
      path: '/gdplay/thumbnail',
      does: 'Returns a still image of a file on Google Drive or, with `format=json`, the facts about the file.',
      fails: ['not_found', 'media_type_unsupported'],
      mediaTypes: ['image/*'],
      savedAs: 'thumbnail.png',
      input: thumbnailInput,
      output: thumbnailOutput,
      handler: (input, context, deps: GdplayDeps) => fetchThumbnail(input, context, deps),
    }),
  ],
});
