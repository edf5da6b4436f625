import { useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiProblem } from '../api/api-problem';
import { isSignedOut } from '../api/query-client';
import { personQuery, sessionQuery } from '../api/who-queries';

export interface FormSubmission<Values> {
  /** Does nothing while the previous submission runs: a second click is not a second request. */
  readonly submit: (values: Values) => Promise<void>;
  readonly pending: boolean;
  /** Why the last one failed; undefined after a success. */
  readonly problem: ApiProblem | undefined;
}

/**
 * Sends a form. Unlike a cached mutation it keeps neither the request nor the response.
 * @param send makes the request and handles its success; throws ApiProblem
 */
export function useSubmit<Values = void>(send: (values: Values) => Promise<unknown>): FormSubmission<Values> {
  const underWay = useRef(false);
  const client = useQueryClient();
  const [pending, setPending] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();

  async function submit(values: Values): Promise<void> {
    if (underWay.current) return;
    underWay.current = true;
    setPending(true);
    setProblem(undefined);
    try {
      await send(values);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
      // The session's query then finds no session and leads to the sign-in page.
      if (isSignedOut(error)) await Promise.all([sessionQuery, personQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
    } finally {
      underWay.current = false;
      setPending(false);
    }
  }

  return { submit, pending, problem };
}
