import { fc } from '../../fast-check.ts'

/** A server with locations, and the files under its root. `@ROOT@` and `@A@` to `@D@` (backends) are filled in by the test. */
export interface RouteSet {
  readonly text: string
  readonly files: readonly string[]
}

const backend = fc.constantFrom('@A@', '@B@', '@C@', '@D@')
const pass = backend.map((one) => `proxy_pass http://${one};`)

const condition = fc.constantFrom(
  '($host = a.test)',
  '($host != a.test)',
  '($host ~ ^(a|b)\\.)',
  '($host ~* "^[[:alpha:]]+\\.TEST$")',
  '($request_method = POST)',
  '($request_method !~ ^(GET|HEAD)$)',
  '($scheme = http)',
  '($args)',
  '($arg_x = "")',
  '(-f $document_root/index.html)',
  '(!-e $request_filename)',
  '($flag)',
  '($uri ~ ^/(.*)$)',
)

const rewrite = fc.constantFrom(
  'rewrite ^ /app/ last;',
  'rewrite ^/$ /a/ last;',
  'rewrite ^/$ /index.php break;',
  'rewrite ^/(.*)$ /app/$1;',
  'rewrite ^/x /a/ last;',
  'rewrite ^/$ http://x.test/ redirect;',
  'rewrite ^/$ /moved permanent;',
  'break;',
  'set $flag 1;',
  'set $flag "";',
)

const codes = fc.oneof(
  { weight: 4, arbitrary: rewrite },
  { weight: 1, arbitrary: fc.constantFrom('return 418;', 'return 404;', 'return 200 self;', 'return 301 /x;') },
  { weight: 3, arbitrary: fc.tuple(condition, rewrite).map(([asked, inner]) => `if ${asked} { ${inner} }`) },
  { weight: 1, arbitrary: condition.map((asked) => `if ${asked} { return 418; }`) },
)

const tryFiles = fc.constantFrom(
  'try_files $uri @named;',
  'try_files $uri $uri/ @named;',
  'try_files $uri $uri/ /index.php?$args;',
  'try_files $uri/index.html @named;',
  'try_files /nothing =404;',
  'try_files /index.html /app/;',
)

const passInIf = fc.tuple(condition, pass).map(([asked, one]) => `if ${asked} { ${one} }`)

const content = fc.oneof(
  { weight: 5, arbitrary: pass },
  { weight: 3, arbitrary: tryFiles },
  { weight: 1, arbitrary: fc.tuple(passInIf, pass).map((both) => both.join(' ')) },
  { weight: 1, arbitrary: fc.constantFrom('', 'index index.php index.html;', 'error_page 403 404 = @named;') },
)

const body = fc
  .tuple(fc.array(codes, { maxLength: 2 }), content)
  .map(([some, one]) => [...some, one].filter((text) => text !== '').join(' '))

/** Equal locations are refused, so each kind has its own place. */
const PLACES = ['/', '= /', '^~ /a', '/app/', '~ ^/', '~ \\.php$', '~* ^/A', '~ ^/[^a]', '= /index.html']

const location = fc.tuple(fc.constantFrom(...PLACES), body)

const nested = fc.option(
  body.map((text) => `location ~ ^/$ { ${text} }`),
  { freq: 6 },
)

export const routeSet: fc.Arbitrary<RouteSet> = fc
  .record({
    codes: fc.array(codes, { maxLength: 1 }),
    locations: fc.uniqueArray(location, { maxLength: 5, selector: ([place]) => place }),
    nested,
    named: pass,
    settings: fc.subarray(['index index.php index.html;', 'error_page 418 = @named;', 'error_page 404 /app/;']),
    files: fc.subarray(['index.html', 'index.php', 'a/index.html', 'app/index.php']),
  })
  .map(({ codes: own, locations, nested: inner, named, settings, files }) => ({
    text: [
      'root @ROOT@;',
      'set $flag "";',
      ...settings,
      ...own,
      ...locations.map(
        ([place, text], i) => `location ${place} { ${text} ${i === 0 && place === '/' ? (inner ?? '') : ''} }`,
      ),
      `location @named { ${named} }`,
    ].join('\n  '),
    files,
  }))
