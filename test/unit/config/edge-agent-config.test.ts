import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { readEdgeAgentConfig } from '../../../src/config/edge-agent.ts'

const SMALLEST =
  'server: 23\nnginx: { address: 192.168.45.23 }\nsocket: { path: /run/drawbridge/edge.sock }\nzones: [example.test]\n'
const read = (text: string) => readEdgeAgentConfig(text, '/etc/drawbridge/edge.yaml')

test('the smallest file has the defaults of Debian and of the specification', () =>
  expect(read(SMALLEST)).toMatchObject({
    server: '23',
    nginx: {
      config: '/etc/nginx/nginx.conf',
      folder: '/etc/nginx/drawbridge',
      pidFile: '/run/nginx.pid',
      listen: ['192.168.45.23'],
    },
    ports: { http: 80, https: 443 },
    targets: { addresses: ['192.168.45.23', '192.168.45.25', '192.168.45.253'] },
    socket: { path: '/run/drawbridge/edge.sock', group: undefined },
    listen: undefined,
  }))

test('the smallest file lets hosts use the ports of the specification', () =>
  expect(read(SMALLEST).targets.ports.join()).toBe('80,80,443,443,1024,65535'))

test('the example file says the same and leaves no setting out', () => {
  const text = readFileSync('edge.example.yaml', 'utf8')
  const { socket, ...settings } = read(text)
  expect(settings).toEqual({ ...read(SMALLEST), socket: undefined, ...settings })
  expect(socket).toEqual({ path: '/run/drawbridge/edge-23.sock', group: 'drawbridge' })
  for (const setting of ['prefix', 'listen', 'port', 'group', 'targets'])
    expect(text).toMatch(new RegExp(`^[# ]*${setting}:`, 'm'))
})

test('a file of a former version, without zones, is taken: such an agent refuses new entries', () =>
  expect(read(SMALLEST.replace(/zones.*\n/, '')).zones).toEqual([]))

test.each([
  [SMALLEST.replace(/socket.*\n/, ''), 'edge.yaml:1: socket is missing. Set socket, listen, or both'],
  [SMALLEST.replace('[example.test]', '[]'), 'edge.yaml:4: zones is empty. Set it to a list of names of zones'],
  [SMALLEST.replace('192.168.45.23', 'edge'), 'edge.yaml:2: nginx.address is not valid'],
  [SMALLEST.replace('server: 23\n', ''), 'edge.yaml:1: server is missing'],
  [`${SMALLEST}target: {}\n`, 'edge.yaml:5: target is not a setting'],
  [`${SMALLEST}targets: { addresses: [192.168.45.0/24] }\n`, 'edge.yaml:5: targets.addresses[0] is not valid'],
  [SMALLEST.replace('/run/drawbridge/edge.sock', '/run/x, group: "a b"'), 'edge.yaml:3: socket.group is not valid'],
])('%j is refused with its line', (text, sentence) => expect(() => read(text)).toThrow(sentence))

const service = (edges: string) =>
  readConfig(`zones: { example.test: { primary: 192.168.45.253 } }\nedges:\n${edges}`, '/etc/drawbridge.yaml', {})

test('the edges of a service are nginxes of its own or agents', () => {
  const { edges, agents } = service(
    '  23: { agent: { socket: /run/edge.sock } }\n  73: { agent: { address: 192.168.45.73 } }\n  25: { pidFile: /run/nginx.pid }\n',
  )
  expect(agents).toEqual({ '23': { socket: '/run/edge.sock' }, '73': { address: '192.168.45.73', port: 8046 } })
  expect(Object.keys(edges)).toEqual(['25'])
})

test.each([
  ['  23: { agent: {} }', 'drawbridge.yaml:3: edges.23.agent is not valid. Allowed: either socket, or address and'],
  ['  23: { agent: { socket: /a, address: 192.168.45.23 } }', 'edges.23.agent is not valid'],
  ['  23: { agent: { socket: /a }, folder: /b }', 'drawbridge.yaml:3: edges.23.folder is set beside agent'],
])('%s is refused', (edges, sentence) => expect(() => service(edges)).toThrow(sentence))
