import { type ServiceFacts } from '../../kit/service/define-service';

export const app = { name: 'app', products: ['api-app'], workers: ['apk'] } as const satisfies ServiceFacts;
