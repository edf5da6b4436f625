import { type ServiceFacts } from '../../kit/service/define-service';

export const image = {
  name: 'image',
  products: ['api-image', 'api-background-remover'],
  workers: ['image'],
} as const satisfies ServiceFacts;
