import { describe, expect, test } from 'vitest'
import { type NginxFiles, nginxFiles } from '../../../support/edge/nginx-files.ts'

const UNKNOWN = 'unknown'

async function backendOf(files: NginxFiles, host = 'a.test'): Promise<string | null> {
  const served = (await files.reader.read()).find(host)
  return served?.unresolved ? UNKNOWN : (served?.proxyPass ?? null)
}

async function told(text: string, http = ''): Promise<string | null> {
  using files = nginxFiles({ 'nginx.conf': `http { ${http} server { server_name a.test b.test; ${text} } }` })
  return await backendOf(files)
}

const APP = 'proxy_pass http://10.0.0.1;'
const OTHER = 'proxy_pass http://10.0.0.2;'

describe('a request for / goes', () => {
  test.each([
    [
      'to a named location',
      `root /nowhere; location / { try_files $uri @proxy; } location @proxy { ${APP} }`,
      'http://10.0.0.1',
    ],
    [
      'past a location for other paths',
      `location /api { ${OTHER} } location @x { ${APP} } location / { try_files $uri @x; }`,
      'http://10.0.0.1',
    ],
    ['where a rewrite leads', `location / { rewrite ^ /app last; } location /app { ${APP} }`, 'http://10.0.0.1'],
    ['where a pattern leads', `location / { ${OTHER} } location ~ ^/ { ${APP} }`, 'http://10.0.0.1'],
    ['not to a pattern after ^~', `location ^~ / { ${APP} } location ~ ^/ { ${OTHER} }`, 'http://10.0.0.1'],
    ['to the exact path', `location / { ${OTHER} } location = / { ${APP} }`, 'http://10.0.0.1'],
    ['to nobody after a redirect of the server', `rewrite ^ https://b.test/ permanent; location / { ${APP} }`, null],
    [
      'to nobody after a redirect for this host',
      `if ($host = a.test) { return 301 https://b.test/; } location / { ${APP} }`,
      null,
    ],
    [
      'on after a redirect for another host',
      `if ($host = b.test) { return 301 https://a.test/; } location / { ${APP} }`,
      'http://10.0.0.1',
    ],
    [
      'on after a block of some visitors',
      `if ($http_user_agent ~ bot) { return 403; } location / { ${APP} }`,
      'http://10.0.0.1',
    ],
    ['to one of two, depending on the visitor', `location / { if ($http_x) { ${OTHER} } ${APP} }`, UNKNOWN],
    [
      'to the page of an error',
      `error_page 418 = @x; location / { return 418; } location @x { ${APP} }`,
      'http://10.0.0.1',
    ],
    ['to a pattern that cannot be evaluated', `location / { ${OTHER} } location ~ (?>/) { ${APP} }`, UNKNOWN],
    [
      'past a pattern that cannot match',
      `location / { ${APP} } location ~ (?>\\.php)$ { ${OTHER} }`,
      'http://10.0.0.1',
    ],
    ['to a program', 'location / { content_by_lua_block { ngx.exec("@x") } }', UNKNOWN],
    ['wherever a program sends it', `location / { access_by_lua_block { ngx.exec("@x") } ${APP} }`, UNKNOWN],
    [
      'to the value before a break',
      `location / { set $b 10.0.0.1; break; set $b 10.0.0.2; proxy_pass http://$b; }`,
      'http://10.0.0.1',
    ],
    [
      'where try_files of the server leads, when no location has the path',
      `root /nowhere; try_files $uri /index.php; location ~ \\.php$ { ${APP} } location /other { ${OTHER} }`,
      'http://10.0.0.1',
    ],
    [
      'where a capture before a letter leads',
      `location / { rewrite ^(/)$ $1app last; } location /app { ${APP} }`,
      'http://10.0.0.1',
    ],
    ['to nobody through an internal location', `location / { internal; ${APP} }`, null],
    [
      'to an internal location after a rewrite',
      `location / { rewrite ^ /app last; } location /app { internal; ${APP} }`,
      'http://10.0.0.1',
    ],
    ['to a list of files', `error_page 403 @x; location / { root /etc; autoindex on; } location @x { ${APP} }`, null],
    ['to the numbers of nginx', `location / { stub_status; error_page 404 @x; } location @x { ${APP} }`, null],
    [
      'to a login, for some visitors',
      `location / { auth_request /ask; error_page 401 = @login; ${APP} } location @login { ${OTHER} }`,
      UNKNOWN,
    ],
    [
      'to a redirect to a login, for some visitors',
      `location / { auth_request /ask; auth_request_set $to $upstream_http_location; error_page 401 =302 $to; ${APP} }`,
      'http://10.0.0.1',
    ],
    ['past an access list', `location / { allow 10.0.0.0/8; deny all; ${APP} }`, 'http://10.0.0.1'],
    ['past programs that only filter and log', `location / { ${APP} log_by_lua_block { n() } }`, 'http://10.0.0.1'],
    ['to a captured name', 'location ~ ^/(?<rest>.*)$ { proxy_pass http://10.0.0.1/$rest; }', 'http://10.0.0.1'],
  ])('%s', async (_, text, expected) => expect(await told(text)).toBe(expected))

  test('wherever a program of the http block sends it', async () => {
    const lua = 'access_by_lua_block { ngx.var.b = "10.0.0.2" }'
    expect(await told('set $b 10.0.0.1; location / { proxy_pass http://$b; }', lua)).toBe(UNKNOWN)
    expect(await told('return 204;', lua)).toBeNull()
  })

  test('to the script that the path names', async () => {
    using files = nginxFiles({ 'www/index.php': 'a script' })
    const pass = 'try_files $fastcgi_script_name =404; fastcgi_pass 10.0.0.1:9000;'
    const php = `location ~ \\.php { fastcgi_split_path_info ^(.+?\\.php)(/.*)$; ${pass} }`
    const server = (path: string) =>
      `http { server { server_name a.test; root ${files.folder}/www; rewrite ^/$ ${path}; ${php} } }`
    files.write({ 'nginx.conf': server('/index.php/more') })
    expect(await backendOf(files)).toBe('fastcgi://10.0.0.1:9000')
    files.write({ 'nginx.conf': server('/other.php') })
    expect(await backendOf(files)).toBeNull()
  })

  test.each([
    ['listen 80;', 'http://a.test'],
    ['listen 443 ssl;', 'http://a.test'],
    ['listen 8080;', 'http://a.test:8080'],
    ['listen 80; listen 8080;', UNKNOWN],
  ])('to the Host header, which has the port: %s', async (listen, expected) =>
    expect(await told(`${listen} location / { proxy_pass http://$http_host; }`)).toBe(expected),
  )

  test('to a backend with the port of the visitor', async () =>
    expect(await told('listen 8080; location / { proxy_pass http://10.0.0.1:$server_port; }')).toBe(
      'http://10.0.0.1:8080',
    ))

  test.each([
    ['fastcgi_pass 127.0.0.1:9000;', 'fastcgi://127.0.0.1:9000'],
    ['fastcgi_pass unix:/run/php/php-fpm.sock;', 'fastcgi://unix:/run/php/php-fpm.sock'],
    ['fastcgi_pass php;', 'fastcgi://unix:/run/pool.sock'],
    ['uwsgi_pass uwsgi://127.0.0.1:3031;', 'uwsgi://127.0.0.1:3031'],
    ['uwsgi_pass 127.0.0.1:3031;', 'uwsgi://127.0.0.1:3031'],
    ['scgi_pass 127.0.0.1:4000;', 'scgi://127.0.0.1:4000'],
    ['grpc_pass grpcs://10.0.0.1;', 'grpcs://10.0.0.1'],
    ['grpc_pass 10.0.0.1:50051;', 'grpc://10.0.0.1:50051'],
    ['memcached_pass 127.0.0.1:11211;', 'memcached://127.0.0.1:11211'],
    ['proxy_pass http://dynamic;', UNKNOWN],
    ['proxy_pass http://balanced;', UNKNOWN],
    ['redis_pass 127.0.0.1:6379;', UNKNOWN],
  ])('by %s', async (directive, expected) => {
    const upstreams = `upstream php { server unix:/run/pool.sock; } upstream dynamic { server b.test service=http resolve; }
upstream balanced { server 0.0.0.1; balancer_by_lua_block { } }`
    expect(await told(`location / { ${directive} }`, upstreams)).toBe(expected)
  })

  test('to PHP as the files say, and a file that comes later is noticed', async () => {
    using files = nginxFiles({ 'www/index.php': '' })
    files.write({
      'nginx.conf': `http { root ${files.path('www')}; index index.html index.php;
server { server_name a.test; location / { try_files $uri $uri/ =404; } location ~ \\.php$ { fastcgi_pass unix:/run/php.sock; } } }`,
    })
    expect(await backendOf(files)).toBe('fastcgi://unix:/run/php.sock')
    const { changedAt } = await files.reader.read()
    files.write({ 'www/index.html': '' })
    expect(await backendOf(files)).toBeNull()
    expect((await files.reader.read()).changedAt).toBe(changedAt)
  })

  test('by the name without its dot, and by the map that sees the name in its own case', async () => {
    using files = nginxFiles({
      'nginx.conf': `http { map $arg $to { default x; } map A$host $case { ~^Aa 10.0.0.3; default 10.0.0.4; Aa.test 10.0.0.5; }
server { server_name .a.test; location / { proxy_pass http://$server_name; } }
server { server_name c.test; location / { proxy_pass http://$case; } }
server { server_name ax.test; location / { proxy_pass http://$case; } } }`,
    })
    expect(await backendOf(files)).toBe('http://a.test')
    expect(await backendOf(files, 'c.test')).toBe('http://10.0.0.4')
    expect(await backendOf(files, 'ax.test')).toBe('http://10.0.0.3')
  })
})
