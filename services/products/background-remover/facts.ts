import { type ServiceFacts } from '../../kit/service/define-service';

export const backgroundRemover = { name: 'background-remover', products: ['api-background-remover'] } as const satisfies ServiceFacts;
