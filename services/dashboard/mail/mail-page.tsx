import { type CSSProperties, Fragment, type ReactNode } from 'react';
import { linkColour, textOn } from '../brand/accent';
import { type Brand, PLAIN_BRAND } from '../brand/brand';
import { readPixels, readToken } from '../brand/tokens';

/** The brand as mail shows it. */
export interface MailLook {
  readonly brand: Brand;
  /** Origin of the dashboard. */
  readonly url: string;
}

/** The id by which `img` refers to the brand's picture within a mail. */
export const LOGO_ID = 'logo@brand';

/** Mail programs do not draw SVG. */
export const showsLogo = ({ brand: { logo } }: MailLook): boolean => logo !== undefined && logo.contentType !== 'image/svg+xml';

/** The text of a button, by the first part of the dashboard path that it opens. */
const ACTIONS: Readonly<Record<string, string>> = {
  verify: 'Confirm your address',
  'confirm-email': 'Confirm the address',
  'reset-password': 'Choose a new password',
  invitation: 'Open the invitation',
  'sign-in': 'Sign in',
  'sign-up': 'Sign up',
  plans: 'Open your plans',
  billing: 'Open billing',
  'status-mail': 'Confirm',
};

const LINK = /(https?:\/\/\S+[^\s.,;:])/;

const colour = (name: string): string => readToken(name).light;
const font = { fontFamily: colour('font').replaceAll("'", ''), fontSize: readPixels('type-body'), lineHeight: '1.5' } as const;
const small = { ...font, fontSize: readPixels('type-small') } as const;

/** True for a paragraph that is only a link to the dashboard. A link to another site never looks like a button of the seller's. */
function isOwnLink(paragraph: string, { url }: MailLook): boolean {
  return /^\S+$/.test(paragraph) && URL.canParse(paragraph) && new URL(paragraph).origin === url;
}

/** Styles for mail programs that support narrow and dark pages. */
function mailSheet({ brand }: MailLook): string {
  const dark = (name: string): string => readToken(name).dark;
  const onDark = [
    `.ground{background:${dark('ground')}!important}`,
    `.card{background:${dark('surface')}!important;border-color:${brand.colour} ${dark('line')} ${dark('line')}!important}`,
    `.text{color:${dark('text')}!important}`,
    `.quiet{color:${dark('quiet')}!important}`,
    `.link{color:${linkOf(brand).dark}!important}`,
  ].join('');
  const onPhone = `td.ground{padding:${readPixels('space-2')}!important}.card{padding:${readPixels('space-4')}!important}`;
  return `@media (max-width: 30em){${onPhone}}@media (prefers-color-scheme: dark){${onDark}}`;
}

const linkOf = ({ colour: accent }: Brand): { light: string; dark: string } =>
  accent === PLAIN_BRAND.colour ? readToken('link') : linkColour(accent);

/** Text in which links and addresses break after their punctuation before they break within a word. */
function Breakable({ text }: { readonly text: string }): ReactNode {
  return text.split(/(?<=\s)/).map((word, at) =>
    /[@/]/.test(word)
      ? word.split(/(?<=\w[@./?&=_\]-])(?=\w)/).map((piece, index) => (
          <Fragment key={`${at} ${index}`}>
            {index > 0 && <wbr />}
            {piece}
          </Fragment>
        ))
      : word,
  );
}

/** Text with links, each line on its own. */
function Lines({ text, link }: { readonly text: string; readonly link: string }): ReactNode {
  return text.split('\n').map((line, at) => (
    <span key={at}>
      {at > 0 && <br />}
      {line.split(LINK).map((part, index) =>
        index % 2 === 0 ? (
          <Breakable key={index} text={part} />
        ) : (
          <a key={index} href={part} className="link" style={{ color: link, overflowWrap: 'anywhere' }}>
            <Breakable text={part} />
          </a>
        ),
      )}
    </span>
  ));
}

function Action({ href, look }: { readonly href: string; readonly look: MailLook }): ReactNode {
  const { brand } = look;
  const label = ACTIONS[new URL(href).pathname.split('/')[1] ?? ''] ?? `Open ${brand.name}`;
  const button: CSSProperties = {
    ...font,
    display: 'inline-block',
    padding: `${readPixels('space-2')} ${readPixels('space-4')}`,
    borderRadius: colour('radius'),
    background: brand.colour,
    color: textOn(brand.colour),
    fontWeight: 600,
    textDecoration: 'none',
  };
  return (
    <>
      <p style={{ margin: `${readPixels('space-6')} 0 ${readPixels('space-3')}` }}>
        <a href={href} style={button}>
          {label}
        </a>
      </p>
      <p className="quiet" style={{ ...small, color: colour('quiet'), margin: `0 0 ${readPixels('space-6')}`, overflowWrap: 'anywhere' }}>
        <Lines text={href} link={linkOf(brand).light} />
      </p>
    </>
  );
}

/** The footer of every mail, beside the sender. */
function Foot({ look: { brand, url } }: { readonly look: MailLook }): ReactNode {
  const { support, links, powered_by: isPoweredBy } = brand.words ?? {};
  const own = { Terms: links?.terms, Privacy: links?.privacy, Imprint: links?.imprint, Status: links?.status };
  const shown = Object.entries({ ...own, Support: support === undefined ? undefined : `mailto:${support}` });
  return (
    <p className="quiet" style={{ ...small, color: colour('quiet'), margin: `${readPixels('space-4')} ${readPixels('space-1')} 0` }}>
      {brand.name}
      {shown.map(
        ([text, to]) =>
          to !== undefined && (
            <span key={text}>
              {' · '}
              <a href={to.startsWith('/') ? url + to : to} className="quiet" style={{ color: colour('quiet') }}>
                {text}
              </a>
            </span>
          ),
      )}
      {isPoweredBy === true && brand.name !== PLAIN_BRAND.name && ' · Powered by Tollgate'}
    </p>
  );
}

function Paragraphs({ text, look }: { readonly text: string; readonly look: MailLook }): ReactNode {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs.map((paragraph, at) =>
    isOwnLink(paragraph, look) ? (
      <Action key={at} href={paragraph} look={look} />
    ) : (
      <p key={at} style={{ margin: `0 0 ${readPixels('space-4')}`, overflowWrap: 'anywhere' }}>
        <Lines text={paragraph} link={linkOf(look.brand).light} />
      </p>
    ),
  );
}

/** A table, because some mail programs respect widths nowhere else. */
function Table({ width, children }: { readonly width?: string; readonly children: ReactNode }): ReactNode {
  return (
    <table role="presentation" width="100%" cellPadding={0} cellSpacing={0} style={{ maxWidth: width, textAlign: 'left' }}>
      <tbody>{children}</tbody>
    </table>
  );
}

function Letter({ text, look }: { readonly text: string; readonly look: MailLook }): ReactNode {
  const { brand } = look;
  const card: CSSProperties = {
    ...font,
    padding: readPixels('space-8'),
    color: colour('text'),
    background: colour('surface'),
    border: `1px solid ${colour('line')}`,
    borderTop: `3px solid ${brand.colour}`,
    borderRadius: colour('radius-large'),
  };
  return (
    <>
      <tr>
        <td className="card text" style={card}>
          <p style={{ margin: `0 0 ${readPixels('space-6')}`, fontWeight: 600 }}>
            {showsLogo(look) && (
              <img src={`cid:${LOGO_ID}`} height={28} alt="" style={{ verticalAlign: 'middle', marginRight: readPixels('space-2') }} />
            )}
            {brand.name}
          </p>
          <Paragraphs text={text} look={look} />
        </td>
      </tr>
      <tr>
        <td>
          <Foot look={look} />
        </td>
      </tr>
    </>
  );
}

/**
 * A mail with the seller's name, colour and picture. It shows the mail's plain text; a link to the dashboard that stands alone is a button.
 */
export function MailPage({ subject, text, look }: { readonly subject: string; readonly text: string; readonly look: MailLook }): ReactNode {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{subject}</title>
        <style dangerouslySetInnerHTML={{ __html: mailSheet(look) }} />
      </head>
      <body className="ground" style={{ margin: 0, background: colour('ground') }}>
        <Table>
          <tr>
            <td className="ground" align="center" style={{ padding: readPixels('space-6'), background: colour('ground') }}>
              <Table width="560px">
                <Letter text={text} look={look} />
              </Table>
            </td>
          </tr>
        </Table>
      </body>
    </html>
  );
}
