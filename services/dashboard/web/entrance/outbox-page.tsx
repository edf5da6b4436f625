import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Outbox } from '../../contract/account';
import { outboxQuery } from '../parts/api/queries';
import { EmptyState } from '../parts/components/empty-state';
import { formatMoment } from '../parts/format/time';
import { Loaded } from '../parts/components/loaded';
import { PageTitle } from '../parts/components/page-title';

/** Mail of an embedded installation, which is not sent. */
export function OutboxPage(): ReactNode {
  const query = useQuery(outboxQuery);
  return (
    <div data-wide>
      <PageTitle title="Outbox">This installation does not send email. What it would have sent is listed here, newest first.</PageTitle>
      <Loaded query={query} height={220}>
        {({ mails }) => <Mails mails={mails} />}
      </Loaded>
      <Text size="sm" mt="md">
        <Link to="/sign-in" search={{ then: undefined, reason: undefined }} className="text-link">
          Back to sign in
        </Link>
      </Text>
    </div>
  );
}

function Mails({ mails }: Outbox): ReactNode {
  if (mails.length === 0) {
    return <EmptyState title="No email yet">It appears here automatically, for example after you sign up.</EmptyState>;
  }
  return (
    <Stack gap="sm">
      {mails.map((mail) => (
        <article key={mail.id} className="panel" aria-label={mail.subject}>
          <Title order={2} size="h3">
            {mail.subject}
          </Title>
          <Text size="xs" c="dimmed" mb="xs">
            to {mail.to}, {formatMoment(mail.at)}
          </Text>
          <MailText text={mail.text} />
        </article>
      ))}
    </Stack>
  );
}

/** Links of this dashboard can be followed. Anything else stays text. */
function MailText({ text }: { readonly text: string }): ReactNode {
  const parts = text.split(/(https?:\/\/\S+)/);
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {parts.map((part, index) =>
        /^https?:/.test(part) ? (
          <a key={index} href={part} className="text-link in-text">
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </Text>
  );
}
