import { type ServiceFacts } from '../../kit/service/define-service';

export const aadhaar = { name: 'aadhaar', products: ['api-aadhaar'], workers: ['identity'] } as const satisfies ServiceFacts;
