/** The part of a caller's address that budgets and bounds count by: one IPv6 customer has a whole /64 of addresses. */
export function household(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head.split(':')
  const missing = 8 - groups.length - (tail ? tail.split(':').length : 0)
  const full = address.includes('::')
    ? [...groups, ...Array(Math.max(0, missing)).fill('0'), ...tail.split(':')]
    : groups
  return full.slice(0, 4).join(':')
}
