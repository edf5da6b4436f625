import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { isOffered } from '../brand/wording';
import { PageFrame, type PageTools } from './page-frame';
import { ASK_PATH, LINK_PATHS, type LinkKind } from './status-links';

/** The progress of a request for mail about outages. */
export type MailStep =
  /** The same for every address, even one that gets the mail already. */
  | { readonly kind: 'asked'; readonly email: string }
  /** The form again, with what is wrong with it. */
  | { readonly kind: 'wrong'; readonly email: string; readonly product: string; readonly problem: string }
  | { readonly kind: 'busy' }
  /** A link in a mail was opened. Programs open links too, so the reader must press a button. */
  | { readonly kind: 'opened'; readonly link: LinkKind; readonly token: string; readonly email: string; readonly product: string | null }
  | { readonly kind: 'confirmed'; readonly product: string | null }
  | { readonly kind: 'ended' }
  /** The link is too old, or not ours. */
  | { readonly kind: 'unusable' };

interface AskFormProps {
  readonly products: readonly CatalogueProduct[];
  /** The values sent before. */
  readonly given?: { readonly email: string; readonly product: string };
}

/** A form for an address, without a script. */
export function AskForm({ products, given }: AskFormProps): ReactNode {
  return (
    <>
      <form className="find ask" action={ASK_PATH} method="post">
        <label>
          <span>Email</span>
          <input name="email" type="email" required maxLength={254} autoComplete="email" defaultValue={given?.email} />
        </label>
        <label>
          <span>Products</span>
          <select name="product" defaultValue={given?.product ?? ''}>
            <option value="">All products</option>
            {products.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button className="button" type="submit">
          Get mail
        </button>
      </form>
      <p className="quiet">
        One mail when an outage begins, and one once the product has worked for 15 minutes. Your address is used for nothing else, and
        deleted as soon as you unsubscribe by the link in each mail.
      </p>
    </>
  );
}

function BackToStatus(): ReactNode {
  return (
    <p className="actions">
      <a className="button second" href="/status">
        See the status
      </a>
    </p>
  );
}

interface StepProps {
  readonly products: readonly CatalogueProduct[];
  readonly step: MailStep;
}

const aboutOf = (products: readonly CatalogueProduct[], product: string | null): string =>
  products.find(({ id }) => id === product)?.title ?? 'any product';

function Opened({ products, step }: StepProps & { readonly step: Extract<MailStep, { kind: 'opened' }> }): ReactNode {
  const { link, token, email, product } = step;
  const about = aboutOf(products, product);
  return (
    <>
      <p className="lead">
        {link === 'confirm'
          ? `Mail to ${email} when ${about} fails, and when it works again?`
          : `No more mail to ${email} when ${about} fails?`}
      </p>
      <form action={`${LINK_PATHS[link]}?token=${encodeURIComponent(token)}`} method="post">
        <button className="button" type="submit">
          {link === 'confirm' ? 'Confirm' : 'Unsubscribe'}
        </button>
      </form>
    </>
  );
}

const TITLES: Readonly<Record<MailStep['kind'], string>> = {
  asked: 'Check your mailbox',
  wrong: 'Get mail about outages',
  busy: 'Too many requests for mail',
  opened: 'Mail about outages',
  confirmed: 'You get mail about outages',
  ended: 'You are unsubscribed',
  unusable: 'This link does not work',
};

function Step({ products, step }: StepProps): ReactNode {
  switch (step.kind) {
    case 'asked':
      return (
        <p className="lead">
          An email is on its way to {step.email}. Open the link in it within a day to confirm. If it does not arrive, check your spam
          folder, or ask again tomorrow: a mailbox is sent only a few such emails a day.
        </p>
      );
    case 'wrong':
      return (
        <>
          <p role="alert">{step.problem}</p>
          <AskForm products={products.filter(isOffered)} given={step} />
        </>
      );
    case 'busy':
      return (
        <p className="lead">
          Too many came from your network, or from all networks together. Try again in an hour, or follow the <a href="/status.xml">feed</a>
          , which needs no email address.
        </p>
      );
    case 'opened':
      return <Opened products={products} step={step} />;
    case 'confirmed':
      return <p className="lead">The next mail comes when {aboutOf(products, step.product)} fails. Each has a link that ends them.</p>;
    case 'ended':
      return <p className="lead">The address is deleted. No more mail about outages is sent to it.</p>;
    case 'unusable':
      return (
        <p className="lead">
          A link to confirm works for a day, and no link works once you have unsubscribed. You can ask for mail again on the status page.
        </p>
      );
  }
}

/** The response to the form of the status page, and to the links in mails. */
export function StatusMailPage({ tools, products, step }: StepProps & { readonly tools: PageTools }): ReactNode {
  const title = TITLES[step.kind];
  return (
    <PageFrame tools={tools} title={title} description="Mail about outages." path={ASK_PATH}>
      <h1>{title}</h1>
      <Step products={products} step={step} />
      {step.kind !== 'opened' && step.kind !== 'wrong' && <BackToStatus />}
    </PageFrame>
  );
}
