import { type SandboxUpstream } from '../sandbox-upstream';
import { SAMPLE_APK_SHA256 } from './apk-examples';

function failure(code: string, message: string): unknown {
  return { error: { code, message } };
}

/** Reputation of the sample. It is invented, like everything in the sandbox. */
const SAMPLE_STATS = {
  malicious: 2,
  suspicious: 1,
  harmless: 0,
  undetected: 62,
  'type-unsupported': 9,
  'confirmed-timeout': 0,
  timeout: 1,
  failure: 0,
};

/** VirusTotal's file endpoint. It knows the sample APK and no other file. */
export function createVirustotal(): SandboxUpstream {
  return {
    name: 'virustotal',
    examples: [],
    routes(app) {
      app.get<{ Params: { id: string } }>('/api/v3/files/:id', (request, reply) => {
        if (!request.headers['x-apikey']) return reply.code(401).send(failure('AuthenticationRequiredError', 'X-Apikey header is missing'));
        const { id } = request.params;
        if (id !== SAMPLE_APK_SHA256) return reply.code(404).send(failure('NotFoundError', `File "${id}" not found`));
        return {
          data: {
            id,
            type: 'file',
            attributes: { sha256: id, type_tag: 'android', last_analysis_date: 1_767_225_600, last_analysis_stats: SAMPLE_STATS },
          },
        };
      });
    },
  };
}
