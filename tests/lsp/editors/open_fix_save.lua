-- Neovim, from 0.7: open FILE, wait for diagnostics, apply the fix-all action, save. One line of JSON for each step on OUT.
local out = assert(io.open(os.getenv("OUT"), "w"))
local clock = (vim.uv or vim.loop).hrtime
local begun = clock()
local function say(step, more)
  out:write(vim.fn.json_encode({ step = step, ms = (clock() - begun) / 1e6, more = more }) .. "\n")
  out:flush()
end
local function need(seconds, what, holds)
  if not vim.wait(seconds * 1000, holds, 10) then
    say("timeout", what)
    vim.cmd("cquit")
  end
end
local command = vim.split(os.getenv("SERVER"), " ")
local root = os.getenv("ROOT")

vim.cmd("edit " .. os.getenv("FILE"))
local modern = vim.lsp.config ~= nil
if modern then
  vim.lsp.config("tfnanlint", { cmd = command, filetypes = { "python" }, root_dir = root })
  vim.lsp.enable("tfnanlint")
  vim.bo.filetype = "python"
else
  vim.bo.filetype = "python"
  local id = vim.lsp.start_client({ name = "tfnanlint", cmd = command, root_dir = root })
  vim.lsp.buf_attach_client(0, id)
end
local function clients()
  local get = vim.lsp.get_clients or vim.lsp.get_active_clients
  return get({ bufnr = 0 })
end
need(30, "the server", function() return #clients() > 0 and clients()[1].initialized ~= false end)
say("ready", clients()[1].offset_encoding)
need(30, "diagnostics", function() return #vim.diagnostic.get(0) >= 2 end)
local shown = {}
for _, one in ipairs(vim.diagnostic.get(0)) do
  table.insert(shown, { line = one.lnum, column = one.col, code = one.code, source = one.source })
end
table.sort(shown, function(a, b) return a.line < b.line end)
say("diagnostics", shown)

local client = clients()[1]
local function act(only, pick)
  local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
  params.range = { start = { line = 0, character = 0 }, ["end"] = { line = vim.api.nvim_buf_line_count(0), character = 0 } }
  params.context = { only = { only }, diagnostics = {} }
  local replies = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 20000)
  local titles = {}
  for _, reply in pairs(replies) do
    for _, action in ipairs(reply.result or {}) do
      table.insert(titles, action.title)
      if pick(action) then
        if not action.edit then
          for _, resolved in pairs(vim.lsp.buf_request_sync(0, "codeAction/resolve", action, 20000)) do action = resolved.result end
        end
        vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
        return action.title
      end
    end
  end
  say("no action", titles)
  vim.cmd("cquit")
end

say("quick fix", act("quickfix", function(action) return action.isPreferred end))
need(30, "one diagnostic less", function() return #vim.diagnostic.get(0) == #shown - 1 end)
local hover = vim.lsp.buf_request_sync(0, "textDocument/hover",
  { textDocument = vim.lsp.util.make_text_document_params(), position = { line = vim.diagnostic.get(0)[1].lnum, character = vim.diagnostic.get(0)[1].col } }, 20000)
for _, reply in pairs(hover) do say("hover", reply.result and reply.result.contents.value) end
say("fix all", act("source.fixAll.tfnanlint", function() return true end))
need(30, "no diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
say("clean")
vim.cmd("write")
say("saved")
out:close()
vim.cmd("qa!")
