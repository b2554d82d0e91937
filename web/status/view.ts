import { useAddressState } from '../shell/address-state.ts'
import { FILTERS, SORTS, type View, WHOLE_VIEW } from './host-list.ts'

/** Filters, order and search of the list. */
export const useView = () => useAddressState({ read: viewIn, write: queryOf })

function viewIn(query: URLSearchParams): View {
  const filters = FILTERS.map((filter) => [filter, query.getAll(filter)] as const)
  return {
    ...WHOLE_VIEW,
    ...Object.fromEntries(filters),
    search: query.get('search') ?? '',
    sort: SORTS.find((sort) => sort === query.get('sort')) ?? WHOLE_VIEW.sort,
    descending: query.get('order') === 'desc',
  }
}

export function queryOf({ search, sort, descending, ...view }: View): string {
  const said = new URLSearchParams([
    ...(search ? [['search', search]] : []),
    ...FILTERS.flatMap((filter) => view[filter].map((value) => [filter, value])),
    ...(sort !== WHOLE_VIEW.sort ? [['sort', sort]] : []),
    ...(descending ? [['order', 'desc']] : []),
  ])
  return said.size === 0 ? '' : `?${said}`
}
