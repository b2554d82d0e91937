/** What adopting a site means for one of its directives. `same`: an exposure answers as the directive makes the site answer. */
export type DirectiveVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'changed' | 'lost' | 'refused'; readonly sentence: string; readonly told?: readonly string[] }

const LOGS = 'The host has no log of its own any more.'
const TLS = 'TLS is set up for all hosts of Drawbridge together.'
const COMPRESSION = 'Answers are compressed as the http block says.'
const BUFFERS = 'Buffers and timeouts have the values of Drawbridge.'
const HEADERS = 'Headers of answers are passed on as the backend sends them.'
const INPUT_HEADERS = 'It decides which headers of visitors the backend gets.'
const CACHE = 'Answers are not cached any more.'
const LIMITS = 'Requests are not limited any more.'
const ERRORS = 'Error pages are those of the backend or of nginx.'
const RESTRICTS = 'It restricts who is answered, and the host would be open without it.'
const STATIC = 'It answers from files and not from a backend.'
const OTHER_PROTOCOL = 'Its backend does not speak HTTP.'
const PROGRAM = 'It answers by a program inside of nginx.'
const REWRITES = 'It decides by the request what is answered.'
const ODD_NAMES = 'Headers of requests with odd names are passed on as the http block says.'
const SLASHES = 'Several slashes in a path are treated as the http block says.'
const BODIES = 'The largest body of a request is that of the whole host.'
const REDIRECTS = 'Redirects of the backend to its own address lead to the host, and others are passed on as they are.'
const BACKEND_TLS = 'Its backend is asked by HTTPS with settings of its own.'

/** The first pattern that a name matches decides. */
const TABLE: readonly (readonly [RegExp, DirectiveVerdict['kind'], string?])[] = [
  [/^(log_not_found|log_subrequest|server_name_in_redirect|port_in_redirect|absolute_redirect|root|index)$/, 'same'],
  [/^(default_type|types|proxy_http_version|tcp_nodelay|tcp_nopush|sendfile|http2)$/, 'same'],
  [/^(access_log|error_log|rewrite_log)$/, 'lost', LOGS],
  // A trusted certificate alone restricts no visitor. The directives that request a certificate from visitors do.
  [/^ssl_(verify_|client_|crl|ocsp|reject_)/, 'refused', RESTRICTS],
  [/^(ssl_|http3|quic_)/, 'lost', TLS],
  [/^(gzip|gunzip|brotli|zstd)/, 'lost', COMPRESSION],
  [/^(error_page|recursive_error_pages|proxy_intercept_errors)$/, 'lost', ERRORS],
  [/^more_\w+_input_headers$/, 'refused', INPUT_HEADERS],
  [/^(add_header|add_trailer|more_|expires|etag|server_tokens|charset|override_charset)/, 'lost', HEADERS],
  [/^proxy_(hide_header|pass_header|ignore_headers|cookie_|headers_hash_)/, 'lost', HEADERS],
  [/^proxy_(cache|no_cache|store|force_ranges)/, 'lost', CACHE],
  [/^limit_(req|conn|rate)/, 'lost', LIMITS],
  [/^proxy_ssl_/, 'refused', BACKEND_TLS],
  [
    /^proxy_(connect|send|read)_timeout$|^proxy_(buffer|busy_|max_temp_|temp_|limit_rate|next_upstream|socket_)/,
    'lost',
    BUFFERS,
  ],
  [/^proxy_(buffering|request_buffering|ignore_client_abort)/, 'lost', BUFFERS],
  [/^proxy_redirect$/, 'lost', REDIRECTS],
  [/^client_max_body_size$/, 'lost', BODIES],
  [
    /^(client_|keepalive|send_timeout|send_lowat|large_client_header|connection_pool|request_pool|lingering_)/,
    'lost',
    BUFFERS,
  ],
  [
    /^(resolver|reset_timedout_connection|output_buffers|postpone_output|aio|directio|read_ahead|open_file_cache)/,
    'lost',
    BUFFERS,
  ],
  [/^(underscores_in_headers|ignore_invalid_headers)$/, 'lost', ODD_NAMES],
  [/^merge_slashes$/, 'lost', SLASHES],
  [/^(msie_|chunked_transfer_encoding|max_ranges)/, 'lost', HEADERS],
  [
    /^(allow|deny|satisfy|auth_|internal$|limit_except|valid_referers|secure_link|geo|modsecurity|naxsi)/,
    'refused',
    RESTRICTS,
  ],
  [/^(fastcgi|uwsgi|scgi|grpc|memcached)_/, 'refused', OTHER_PROTOCOL],
  [/^(try_files|alias|autoindex|random_index|dav_|mp4|flv|hls|empty_gif|stub_status|slice)/, 'refused', STATIC],
  [/(_by_lua|^lua_|^js_|^perl|^passenger|^content_by)/, 'refused', PROGRAM],
  [/^(rewrite|if|break|return|mirror|sub_filter|addition_|ssi|image_filter|xslt_|split_clients)/, 'refused', REWRITES],
]

const UNKNOWN = 'Drawbridge does not know what it does.'

export function verdictOf(name: string): DirectiveVerdict {
  const [, kind, sentence = UNKNOWN] = TABLE.find(([pattern]) => pattern.test(name)) ?? [undefined, 'refused']
  return kind === 'same' ? { kind } : { kind, sentence, told: TOLD.find(([those]) => those === sentence)?.[1] ?? [] }
}

/** The differences that a directive about certain answer headers announces. Undefined: those of its sentence. */
export function toldBy(name: string, [header = '']: readonly string[]): readonly string[] | undefined {
  if (/^(add_header|proxy_hide_header|proxy_pass_header)$/.test(name)) return [`answer ${header.toLowerCase()}`]
  if (name.startsWith('proxy_cookie_')) return ['answer set-cookie']
  return ANSWER_HEADERS[name]
}

const ANSWER_HEADERS: Readonly<Record<string, readonly string[]>> = {
  server_tokens: ['answer server'],
  charset: ['answer content-type'],
  override_charset: ['answer content-type'],
  expires: ['answer expires', 'answer cache-control'],
  etag: ['answer etag'],
}

/** The differences that a sentence announces, in the rehearsal's names. `*`: every name. */
const TOLD: readonly (readonly [string, readonly string[]])[] = [
  [COMPRESSION, ['answer content-encoding', 'answer vary', 'answer etag', 'answer accept-ranges', 'body', 'status']],
  [HEADERS, ['answer *']],
  [ERRORS, ['status', 'answer *', 'body']],
  [BODIES, ['upload']],
  [ODD_NAMES, ['request *']],
  [SLASHES, ['path', 'status']],
  [REDIRECTS, ['answer location', 'answer refresh']],
]
