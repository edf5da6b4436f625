import { type ServiceFacts } from '../../kit/service/define-service';

export const gst = { name: 'gst', products: ['api-gst'], workers: ['identity'] } as const satisfies ServiceFacts;
