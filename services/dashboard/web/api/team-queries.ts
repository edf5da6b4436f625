import { queryOptions } from '@tanstack/react-query';
import { type Team } from '../../contract/team';
import { get } from './request';

export const teamQuery = queryOptions({ queryKey: ['team'], queryFn: () => get<Team>('/team'), refetchInterval: 15_000 });
