import { SegmentedControl } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Grain } from './usage-chart';

interface GrainSwitchProps {
  readonly by: Grain;
  readonly onChange: (by: Grain) => void;
}

const CHOICES: { value: Grain; label: string }[] = [
  { value: 'day', label: 'Days' },
  { value: 'hour', label: 'Hours' },
];

/** Whether a chart has a bar for each day or each hour. */
export function GrainSwitch({ by, onChange }: GrainSwitchProps): ReactNode {
  return <SegmentedControl aria-label="Show by" data={CHOICES} value={by} onChange={onChange} />;
}
