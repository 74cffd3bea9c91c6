-- Start `tilewright lsp` for each buffer of Tile IR, one server for all of them.
-- `vim.g.tilewright_command` is the command, if `tilewright` is not on the path.

local function on_attach(client, buffer)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  local keys = {
    K = vim.lsp.buf.hover,
    gd = vim.lsp.buf.definition,
    gr = vim.lsp.buf.references,
    gO = vim.lsp.buf.document_symbol,
  }
  for key, action in pairs(keys) do
    vim.keymap.set("n", key, function() action() end, { buffer = buffer })
  end
end

local function settings(file)
  return {
    name = "tilewright",
    cmd = vim.g.tilewright_command or { "tilewright", "lsp" },
    root_dir = vim.fn.fnamemodify(file, ":p:h"),
    on_attach = on_attach,
  }
end

local shared -- the client, where `vim.lsp.start` (Neovim 0.8) does not share it

local function start(event)
  if vim.lsp.start then
    vim.lsp.start(settings(event.file), { reuse_client = function(client)
      return client.name == "tilewright"
    end })
  else
    shared = shared or vim.lsp.start_client(settings(event.file))
    vim.lsp.buf_attach_client(event.buf, shared)
  end
end

vim.api.nvim_create_autocmd("FileType", { pattern = "tileir", callback = start })
