// The program of the sample backends. One argument per backend: SERVER,ADDRESS,PORT,STATUS-OF-HEALTHZ.
import { createServer } from 'node:http'

for (const argument of process.argv.slice(2)) {
  const [server = '', address = '', port = '', healthStatus = ''] = argument.split(',')
  serve(server, address, Number(port), Number(healthStatus))
}

function serve(server: string, address: string, port: number, healthStatus: number): void {
  const page = `<!doctype html><title>Server ${server}</title><h1>This is the sample backend on server ${server}</h1>\n`
  createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://backend').pathname
    if (path === '/healthz') answer(healthStatus, 'text/plain', `${healthStatus < 300 ? 'healthy' : 'unhealthy'}\n`)
    else if (path === '/') answer(200, 'text/html; charset=utf-8', page)
    else answer(404, 'text/plain', 'not found\n')

    function answer(status: number, type: string, body: string): void {
      response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body)
    }
  }).listen(port, address)
}
