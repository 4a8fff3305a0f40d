-- slug: a title as a part of an address: "Hello, World!" is "hello-world".
return function(title)
  local text = title
  return text
end
