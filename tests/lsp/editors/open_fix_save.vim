" Vim with ALE: open FILE, wait for diagnostics, apply fixes from the menu of code actions, save. One line of JSON for each
" step on OUT.
set nocompatible hidden
set runtimepath+=/usr/share/vim-ale
let g:ale_lint_delay = 10
let g:ale_linters = {'python': ['tfnanlint']}
let g:ale_disable_lsp = 0
runtime plugin/ale.vim
call ale#linter#Define('python', {
\   'name': 'tfnanlint',
\   'lsp': 'stdio',
\   'executable': {b -> split($SERVER)[0]},
\   'command': {b -> '%e ' . join(split($SERVER)[1:])},
\   'project_root': {b -> $ROOT},
\})

let s:begun = reltime()
let s:told = []
function! s:Say(step, more) abort
  let l:ms = reltimefloat(reltime(s:begun)) * 1000
  call add(s:told, json_encode({'step': a:step, 'ms': l:ms, 'more': a:more}))
  call writefile(s:told, $OUT)
endfunction
function! s:Need(what, Holds) abort
  let l:end = reltimefloat(reltime(s:begun)) + 60
  while !a:Holds()
    if reltimefloat(reltime(s:begun)) > l:end
      call s:Say('timeout', a:what)
      cquit
    endif
    sleep 10m
  endwhile
endfunction
function! s:Found() abort
  return filter(copy(ale#engine#GetLoclist(bufnr(''))), {_, one -> one.linter_name is# 'tfnanlint'})
endfunction
" Vim takes no key in this mode, so the first action of the menu that matches is taken.
function! s:Act(line, pattern) abort
  call cursor(a:line, 1)
  let s:title = ''
  call ale#codefix#Execute(0, {data, items -> s:Pick(data, items, a:pattern)})
  call s:Need('an action: ' . a:pattern, {-> s:title isnot# ''})
  call ale#Queue(0)  " a script's changes fire no TextChanged
  return s:title
endfunction
function! s:Pick(data, items, pattern) abort
  for [l:kind, l:item] in a:items
    if l:item.title =~# a:pattern
      let s:title = l:item.title
      call ale#codefix#ApplyLSPCodeAction(a:data, l:item)
      return
    endif
  endfor
  call s:Say('no action', map(copy(a:items), {_, one -> one[1].title}))
endfunction

execute 'edit' fnameescape($FILE)
setfiletype python
call ale#Queue(0)
call s:Need('diagnostics', {-> len(s:Found()) >= 2})
let s:shown = sort(s:Found(), {a, b -> a.lnum - b.lnum})
call s:Say('diagnostics', map(copy(s:shown), {_, one -> {'line': one.lnum - 1, 'column': one.col - 1, 'code': one.code}}))
call s:Say('quick fix', s:Act(s:shown[0].lnum, '(same result'))
call s:Need('one diagnostic less', {-> len(s:Found()) == 1})
call s:Say('fix all', s:Act(s:Found()[0].lnum, 'Fix all'))
call s:Need('no diagnostics', {-> empty(s:Found())})
call s:Say('clean', '')
write
call s:Say('saved', '')
qall!
