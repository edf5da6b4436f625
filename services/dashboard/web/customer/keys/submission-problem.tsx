import { Alert, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ApiProblem } from '../../parts/api/api-problem';
import { ProblemAlert } from '../../parts/components/problem-alert';

/** Why no new key is shown. If the first response was lost, it says which key was made. */
export function SubmissionProblem({ problem }: { readonly problem: ApiProblem | undefined }): ReactNode {
  const id = problem?.textMember('id');
  if (problem?.code !== 'already_done' || id === undefined) return <ProblemAlert problem={problem} />;
  return (
    <Alert color="yellow" role="alert">
      <Text size="sm">
        This form already created its key, but the response that shows it was lost. A key is never shown twice:{' '}
        <Link to="/keys/$keyId" params={{ keyId: id }} className="text-link in-text">
          open the key
        </Link>{' '}
        and rotate it to get a new one.
      </Text>
    </Alert>
  );
}
