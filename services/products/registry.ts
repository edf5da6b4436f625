import { type ServiceDefinition, type ServiceFacts } from '../kit/service/define-service';
import { type WorkerKind } from '../kit/worker-kind';
import { aadhaar } from './aadhaar/facts';
import { app } from './app/facts';
import { backgroundRemover } from './background-remover/facts';
import { gdplay } from './gdplay/facts';
import { glead } from './glead/facts';
import { grank } from './grank/facts';
import { gst } from './gst/facts';
import { image } from './image/facts';
import { ip } from './ip/facts';
import { pincode } from './pincode/facts';
import { seo } from './seo/facts';
import { vahaan } from './vahaan/facts';

/** Every service by folder name: the facts that must be known without loading its code. Add a product here. */
export const SERVICES = {
  aadhaar,
  app,
  'background-remover': backgroundRemover,
  gdplay,
  glead,
  grank,
  gst,
  image,
  ip,
  pincode,
  seo,
  vahaan,
} as const satisfies Readonly<Record<string, ServiceFacts>>;

export type ServiceName = keyof typeof SERVICES;

/** @param name any text */
export function isServiceName(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name);
}

/** Every name, in the order of {@link SERVICES}. */
export const SERVICE_NAMES: readonly ServiceName[] = Object.keys(SERVICES).filter(isServiceName);

/** The workers that do a service's work. */
export function workersOf(name: ServiceName): readonly WorkerKind[] {
  const facts: ServiceFacts = SERVICES[name];
  return facts.workers ?? [];
}

/** Loads the code of one service, from `routes.ts` in its folder. All of them together take more memory than the rest of a process. */
export async function loadService(name: ServiceName): Promise<ServiceDefinition> {
  const module = (await import(`./${name}/routes.js`)) as Readonly<Record<string, ServiceDefinition>>;
  const service = Object.values(module).find((exported) => exported.name === name);
  if (!service) throw new Error(`services/products/${name}/routes.ts does not export a service of this name`);
  return service;
}
