import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';

/** Only an index is published; there is no vehicle look-up. */
export const vahaanService = defineService({
  name: 'vahaan',
  products: ['api-vahaan'],
  routes: [indexRoute('ANY', '/vahaan')],
});
