import { EVERY_PAGE } from './every-page';
import { type Scene } from './scene';
import { SCENES } from './scenes';

/** A picture that a document shows. */
export interface DocsPicture {
  /** In docs/pictures, without `.png`. */
  readonly file: string;
  readonly scene: Scene;
  readonly look: 'light' | 'dark' | 'phone';
  /** Of the screen, where not that of its look. */
  readonly height?: number;
}

function picture(file: string, name: string, options: Partial<Omit<DocsPicture, 'file' | 'scene'>> = {}): DocsPicture {
  const scene = [...EVERY_PAGE, ...SCENES].find((each) => each.name === name);
  if (!scene) throw new Error(`there is no scene ${name}`);
  return { file, scene, look: 'light', ...options };
}

/** Taken by `npm run screenshots -- --docs`. */
export const DOCS_PICTURES: readonly DocsPicture[] = [
  picture('home', 'home', { height: 830 }),
  picture('product', 'product', { height: 830 }),
  picture('pricing', 'pricing'),
  picture('reference', 'reference-answered', { height: 1_000 }),
  picture('overview', 'overview'),
  picture('plan-choice', 'plan-choice'),
  picture('key', 'simulated-caller', { height: 1_000 }),
  picture('usage', 'usage', { look: 'dark', height: 1_000 }),
  picture('explain', 'explain'),
  picture('seller-home', 'seller-home', { height: 1_000 }),
  picture('seller-customer', 'seller-customer', { height: 1_000 }),
  picture('seller-requests', 'seller-requests'),
];
