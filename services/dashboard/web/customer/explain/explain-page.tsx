import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode } from 'react';
import { ApiProblem } from '../../parts/api/api-problem';
import { explanationQuery } from '../../parts/api/queries';
import { EmptyState } from '../../parts/components/empty-state';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { Panel } from '../../parts/components/panel';
import { ExplanationView } from './explanation-view';
import { RefusalTable } from './refusal-table';

/** What happened to a request, and how to mend it. */
export function ExplainPage(): ReactNode {
  const { request } = useSearch({ from: '/shell/explain' });
  const navigate = useNavigate({ from: '/explain' });
  function ask(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get('request');
    void navigate({ search: { request: typeof typed === 'string' ? typed.trim() || undefined : undefined } });
  }
  return (
    <>
      <PageTitle title="Explain">
        Every response carries a request ID: in the header <span className="mono">X-Kong-Request-Id</span> and, if it was refused, as{' '}
        <span className="mono">request_id</span> in its body. For 7 days you can look up here what happened to the request and how to fix
        it.
      </PageTitle>
      <Stack gap="md">
        <form onSubmit={ask} key={request}>
          <Group gap="xs" align="flex-end">
            <TextInput
              label="Request ID"
              name="request"
              defaultValue={request ?? ''}
              maxLength={100}
              flex="1 1 16rem"
              maw={480}
              spellCheck={false}
              classNames={{ input: 'mono' }}
            />
            <Button type="submit">Explain</Button>
          </Group>
        </form>
        <div aria-live="polite">{request !== undefined && <Result requestId={request} />}</div>
        <Panel title="Recent refusals">
          <RefusalTable />
        </Panel>
      </Stack>
    </>
  );
}

function Result({ requestId }: { readonly requestId: string }): ReactNode {
  const query = useQuery(explanationQuery(requestId));
  if (query.error instanceof ApiProblem && query.error.status === 404) {
    return (
      <div className="panel">
        <EmptyState
          title="Request not found"
          action={
            <Group gap="xs" justify="center">
              <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
                Check again
              </Button>
              <Button variant="default" component="a" href="/status">
                See the status
              </Button>
            </Group>
          }
        >
          It was made with a key of another account, more than 7 days ago, or within the last few seconds; or it came in a busy hour, when
          only a sample of requests is recorded. If its response was 500 or 503, the gateway could not check it and charged nothing: that is
          our fault. Send it again shortly.
        </EmptyState>
      </div>
    );
  }
  return (
    <Loaded query={query} height={420}>
      {(explanation) => <ExplanationView explanation={explanation} />}
    </Loaded>
  );
}
