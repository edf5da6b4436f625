import { type ServiceFacts } from '../../kit/service/define-service';

export const seo = { name: 'seo', products: ['api-seo'], workers: ['seo'] } as const satisfies ServiceFacts;
