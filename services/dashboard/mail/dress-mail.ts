import { createElement } from 'react';
import { type SendMailOptions } from 'nodemailer';
import { LOGO_ID, type MailLook, MailPage, showsLogo } from './mail-page';

/** The part of a mail that shows the seller's brand, with its picture. */
export async function dressMail(
  { subject, text }: { readonly subject: string; readonly text: string },
  look: MailLook,
): Promise<Pick<SendMailOptions, 'html' | 'attachments'>> {
  const { renderToStaticMarkup } = await import('react-dom/server');
  const html = `<!doctype html>${renderToStaticMarkup(createElement(MailPage, { subject, text, look }))}`;
  const { logo } = look.brand;
  if (!logo || !showsLogo(look)) return { html };
  return {
    html,
    attachments: [{ cid: LOGO_ID, content: logo.bytes, contentType: logo.contentType, contentDisposition: 'inline', filename: 'logo' }],
  };
}
