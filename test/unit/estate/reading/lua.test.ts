import { expect, test } from 'vitest'
import { nginxFiles } from '../../../support/edge/nginx-files.ts'

/** Each is the inside of a block. Braces in strings, long brackets and comments do not count. */
const BLOCKS = [
  'ngx.say("}")',
  "ngx.say('}{', \"\\\"}\", '\\'}')",
  'local t = { a = { 1 }, b = {} }',
  '-- a comment with } and " and \'\n local x = 1',
  '--[[ a long comment } \n " ]] local x = 1',
  '--[==[ ]] ]=] } ]==] local x = 1',
  'local s = [[ } " \n ]]',
  'local s = [=[ ]] } ]=] local t = a[b[1]]',
  'local t = a[ [[}]] ]',
  'ngx.say("a\\\n}")',
  "-- it's\n ngx.say('x')",
  '',
]

test.each(BLOCKS)('Lua is skipped by the rules of Lua: %j', async (lua) => {
  using files = nginxFiles({
    'nginx.conf': `http {
init_by_lua_block { ${lua} }
server { server_name before.test; location / { content_by_lua_block { ${lua} } } set_by_lua_block $x { ${lua} }
  location /api { access_by_lua_block { ${lua} } proxy_pass http://10.0.0.1; } }
server { server_name after.test; } }`,
  })
  const { hosts, broken } = await files.reader.read()
  expect(broken).toEqual([])
  expect(hosts.map(({ host }) => host)).toEqual(['after.test', 'before.test'])
  const lines = lua.split('\n').length - 1
  expect(hosts.map(({ line }) => line)).toEqual([5 + 4 * lines, 3 + lines])
})

test('a block of Lua that does not end is named', async () => {
  using files = nginxFiles({ 'nginx.conf': 'http { server { server_name a.test; }\ninit_by_lua_block { "}"' })
  const { hosts, broken } = await files.reader.read()
  expect(hosts.map(({ host }) => host)).toEqual(['a.test'])
  expect(broken).toMatchObject([{ line: 2, sentence: 'a block of Lua is not closed' }])
})
