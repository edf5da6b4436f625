import { queryOptions } from '@tanstack/react-query';
import { call } from './request';

export const teamQuery = queryOptions({ queryKey: ['team'], queryFn: () => call('GET /team'), refetchInterval: 15_000 });
