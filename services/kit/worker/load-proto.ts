import { join } from 'node:path';
import { type ServiceDefinition as GrpcServiceDefinition } from '@grpc/grpc-js';
import { fromJSON, loadSync, type Options, type PackageDefinition } from '@grpc/proto-loader';
import { type WorkerKind } from '../worker-kind';

/** The folder beside those of the code, both before and after compilation. */
const PROTOS = join(__dirname, '../../../protos');

/** Every kind of worker: its proto's type, and the setting that names its workers to the services. */
const WORKERS = {
  apk: { service: 'apk.v1.ApkWorker', setting: 'APK_WORKER_URL' },
  identity: { service: 'identity.v1.IdentityWorker', setting: 'IDENTITY_WORKER_URL' },
  image: { service: 'image.v1.ImageWorker', setting: 'IMAGE_WORKER_URL' },
  ranking: { service: 'ranking.v1.RankingWorker', setting: 'RANKING_WORKER_URL' },
  seo: { service: 'seo.v1.SeoWorker', setting: 'SEO_WORKER_URL' },
} as const satisfies Readonly<Record<WorkerKind, object>>;

/** `host:port` of every worker of a kind, separated by commas, the same list for every replica of a service. */
export function workerSetting(kind: WorkerKind): (typeof WORKERS)[WorkerKind]['setting'] {
  return WORKERS[kind].setting;
}

/** camelCase members, enums as names, 64-bit integers as numbers, absent fields as defaults. Generate types with the same options. */
const LOADER_OPTIONS: Options = { longs: Number, enums: String, defaults: true, oneofs: true };

function serviceIn(definition: PackageDefinition, name: string): GrpcServiceDefinition {
  const found = definition[name];
  if (!found || 'format' in found) throw new Error(`the proto has no service ${name}`);
  return found;
}

/**
 * @param path of the .proto file; its imports are searched beside it
 * @param service full name, for example `image.v1.ImageWorker`
 * @throws Error when the file cannot be read or has no such service
 */
export function loadService(path: string, service: string): GrpcServiceDefinition {
  return serviceIn(loadSync(path, LOADER_OPTIONS), service);
}

/** The service of one kind of worker, from `protos/KIND/v1/KIND.proto`. */
export function loadWorkerService(kind: WorkerKind): GrpcServiceDefinition {
  return loadService(join(PROTOS, kind, 'v1', `${kind}.proto`), WORKERS[kind].service);
}

const text = (id: number): { type: string; id: number } => ({ type: 'string', id });

/** grpc.health.v1, as published by the gRPC project. */
export const HEALTH_SERVICE: GrpcServiceDefinition = serviceIn(
  fromJSON(
    {
      nested: {
        'grpc.health.v1': {
          nested: {
            HealthCheckRequest: { fields: { service: text(1) } },
            HealthCheckResponse: {
              fields: { status: { type: 'ServingStatus', id: 1 } },
              nested: { ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } } },
            },
            Health: {
              methods: {
                Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse', comment: '' },
                Watch: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse', responseStream: true, comment: '' },
              },
            },
          },
        },
      },
    },
    LOADER_OPTIONS,
  ),
  'grpc.health.v1.Health',
);
