import { Alert } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ApiProblem } from '../../parts/api/api-problem';
import { ProblemAlert } from '../../parts/components/problem-alert';

interface SaveProblemProps {
  readonly problem: ApiProblem | undefined;
  /** True while the conflict itself is shown elsewhere in the form. */
  readonly isStale: boolean;
}

/** Why a change was not saved. */
export function SaveProblem({ problem, isStale }: SaveProblemProps): ReactNode {
  if (problem?.code !== 'version_conflict') return <ProblemAlert problem={problem} />;
  if (isStale) return null;
  return (
    <Alert color="yellow" role="alert">
      The key was changed elsewhere. This form is up to date again and still has your edits: save once more.
    </Alert>
  );
}
