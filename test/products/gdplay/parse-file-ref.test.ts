import { parseFileRef } from '../../../services/products/gdplay/parse-file-ref';
import { ServiceError } from '../../../services/kit/errors';
import { anyCharacter, anyWebUrl } from '../../support/any-text';
import { fc } from '../../support/fast-check';

const ID = '1AbC-dEf_GhIjKlMnOpQrStUvWxYz';

describe('a file', () => {
  it.each([
    ['a bare id', ID],
    ['the shortest id', '0123456789'],
    ['a sharing link', `https://drive.google.com/file/d/${ID}/view?usp=sharing`],
    ['a link of one of several accounts', `https://drive.google.com/file/u/2/d/${ID}/preview`],
    ['an open link', `https://drive.google.com/open?id=${ID}`],
    ['a uc link', `https://drive.google.com/uc?export=download&id=${ID}`],
    ['a download link', `https://drive.usercontent.google.com/download?id=${ID}&export=download`],
    ['a file on docs', `https://docs.google.com/file/d/${ID}/edit`],
    ['http', `http://drive.google.com/open?id=${ID}`],
    ['any path with an id', `https://drive.google.com/thumbnail?id=${ID}&sz=w200`],
    ['one id twice', `https://drive.google.com/open?id=${ID}&id=${ID}`],
    ['blanks around it', `  ${ID} `],
  ])('is recognised by %s', (_what, text) => {
    expect(parseFileRef({ url: text }).id).toBe(text.includes(ID) ? ID : text);
    expect(parseFileRef({ id: text, url: '' })).toEqual(parseFileRef({ url: text }));
  });

  it('takes its resource key from the field, else from the link', () => {
    const url = `https://drive.google.com/file/d/${ID}/view?resourcekey=0-fromlink`;
    expect(parseFileRef({ url }).resourceKey).toBe('0-fromlink');
    expect(parseFileRef({ url, resourcekey: '0-field' }).resourceKey).toBe('0-field');
    expect(parseFileRef({ id: ID }).resourceKey).toBeUndefined();
  });
});

describe('400 answers', () => {
  it.each([
    ['neither field', {}, 'id'],
    ['empty fields', { id: ' ', url: '' }, 'id'],
    ['both fields', { id: ID, url: ID }, 'url'],
    ['an id that is too short', { id: '123456789' }, 'id'],
    ['an id with a slash', { id: `${ID}/../x` }, 'id'],
    ['an id with a line feed', { id: `${ID}\nx` }, 'id'],
    ['an id that is too long', { id: 'x'.repeat(201) }, 'id'],
    ['a foreign host', { url: `https://example.com/file/d/${ID}/view` }, 'url'],
    ['a host that starts like Drive', { url: `https://drive.google.com.example.com/open?id=${ID}` }, 'url'],
    ['a host that ends like Drive', { url: `https://evil-drive.google.com/open?id=${ID}` }, 'url'],
    ['Drive as a user name', { url: `https://drive.google.com@example.com/open?id=${ID}` }, 'url'],
    ['a user name before Drive', { url: `https://user@drive.google.com/open?id=${ID}` }, 'url'],
    ['another port', { url: `https://drive.google.com:8443/open?id=${ID}` }, 'url'],
    ['another scheme', { url: `ftp://drive.google.com/open?id=${ID}` }, 'url'],
    ['a script', { url: `javascript:drive.google.com/open?id=${ID}` }, 'url'],
    ['a folder', { url: `https://drive.google.com/drive/folders/${ID}` }, 'url'],
    ['a folder of an account', { url: `https://drive.google.com/drive/u/0/folders/${ID}?usp=sharing` }, 'url'],
    ['a folder view', { url: `https://drive.google.com/folderview?id=${ID}` }, 'url'],
    ['a link without an id', { url: 'https://drive.google.com/drive/my-drive' }, 'url'],
    ['a path of the download host', { url: `https://drive.usercontent.google.com/other?id=${ID}` }, 'url'],
    ['two ids', { url: `https://drive.google.com/open?id=${ID}&id=${ID}x` }, 'url'],
    ['a broken resource key', { id: ID, resourcekey: 'a/b' }, 'resourcekey'],
  ])('%s', (_what, input, field) => {
    expect(() => parseFileRef(input)).toThrow(ServiceError);
    try {
      parseFileRef(input);
    } catch (error) {
      expect((error as ServiceError).status).toBe(400);
      expect((error as ServiceError).options.members).toMatchObject({ errors: [{ field }] });
    }
  });

  it('say of a folder that it is one', () => {
    expect(() => parseFileRef({ url: `https://drive.google.com/drive/folders/${ID}` })).toThrow(
      expect.objectContaining({ options: expect.objectContaining({ detail: expect.stringContaining('is a folder') }) }),
    );
  });

  it('are the only failure, whatever is given', () => {
    const text = fc.option(fc.oneof(fc.string(), anyWebUrl, fc.string({ unit: anyCharacter })), { nil: undefined });
    fc.assert(
      fc.property(text, text, text, (id, url, resourcekey) => {
        try {
          expect(parseFileRef({ id, url, resourcekey }).id).toMatch(/^[\w-]{10,200}$/);
        } catch (error) {
          expect((error as ServiceError).status).toBe(400);
        }
      }),
    );
  });
});
